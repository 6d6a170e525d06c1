// Worker processes: spawn, handshake, requests, watchdog, kill ladder. The only door to execa.
export { listGroupFolders, parseGroupPaths } from './control-groups.ts';
export { type MemoryGroup, MemoryGroups } from './memory-groups.ts';
export type { AnsweredType, CommandBody, ReplyTo } from './pending-commands.ts';
export { type ServerProcess, spawnServer } from './spawn-server.ts';
export { spawnWorker } from './spawn-worker.ts';
export { watchProgress } from './watchdog.ts';
export { type OutsideLimit, WorkerFailure } from './worker-failure.ts';
export type { Hello, WorkerHandle, WorkerMove } from './worker-handle.ts';
