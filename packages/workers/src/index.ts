// Worker processes: spawn, handshake, requests, watchdog, kill ladder. The only door to execa.
export type { WorkerLog } from './log.ts';
export type { AnsweredType, CommandBody, ReplyTo, SilentCommand } from './pending-commands.ts';
export type { RawExit } from './spawn-guarded.ts';
export { type ServerProcess, spawnServer } from './spawn-server.ts';
export { spawnWorker } from './spawn-worker.ts';
export { type WatchOptions, watchProgress } from './watchdog.ts';
export { type ExitInfo, WorkerFailure } from './worker-failure.ts';
export type { Heartbeat, Hello, SpawnOptions, WorkerHandle, WorkerMove, WorkerNews } from './worker-handle.ts';
