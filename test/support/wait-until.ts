// Waiting for something another process does.

/** Resolves with the first value of `look` that is neither undefined nor false; throws after `timeoutMs`. */
export async function waitUntil<Value>(
  what: string,
  look: () => Value | undefined | false | Promise<Value | undefined | false>,
  timeoutMs = 15_000,
): Promise<Value> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const value = await look();
    if (value !== undefined && value !== false) return value;
    if (Date.now() > deadline) throw new Error(`waited ${timeoutMs} ms for ${what}`);
    await sleep(10);
  }
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
