// What is counted as memory: a limit, a prediction and a measured peak are compared only where all are of one kind.

/** Pages in memory, reserved address space, or a device's memory. */
export type MemoryKind = 'resident' | 'address_space' | 'device';
