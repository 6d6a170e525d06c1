// A Redis server of our own on a Unix socket, which dies with this process and is started again when it dies alone.
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AssayError, type Log } from '@assay/domain';
import type { RedisAddress } from './redis-address.ts';
import { checkRedis } from './redis-check.ts';

const START_TIMEOUT_MS = 10_000;
const POLL_MS = 20;
const MAX_RESTARTS = 5;
const RESTART_WINDOW_MS = 60_000;

/** A started program; it must not outlive this process, whatever ends that. */
interface ServerHandle {
  readonly pid: number;
  readonly exited: Promise<{ code: number | null; signal: string | null }>;
  kill(signal: NodeJS.Signals): void;
}
export type SpawnServer = (program: { command: readonly string[]; logFile: string }) => ServerHandle;

export interface RedisServer {
  address: RedisAddress;
  version: string;
  /** For people: "REDIS_URL", or the path of the program. */
  source: string;
  /** Of our own server, as it is now. */
  pid(): number | undefined;
  close(): Promise<void>;
}

export interface OwnRedisOptions {
  program: string;
  /** A private folder whose path leaves room for a socket's name. The server's own folder in it goes with the server. */
  socketDir: string;
  spawn: SpawnServer;
  log: Log;
  /** Defaults to a file beside the socket, which goes with it. */
  logFile?: string | undefined;
  /** It died and was started again with the data it had. */
  onRestart?: ((how: string) => void) | undefined;
  /** It died too often in a minute and is not started again. */
  onLost?: ((error: AssayError) => void) | undefined;
}

/** Throws REDIS_START with its last words when it does not start, REDIS_VERSION when it is too old. */
export async function startOwnRedis(options: OwnRedisOptions): Promise<RedisServer> {
  const server = new OwnRedis(options);
  try {
    await server.start();
    return server;
  } catch (error) {
    await server.close();
    throw error;
  }
}

class OwnRedis implements RedisServer {
  readonly address: { path: string };
  readonly source: string;
  version = '';
  readonly #options: OwnRedisOptions;
  readonly #dir: string;
  readonly #logFile: string;
  #process: ServerHandle | undefined;
  #deathsMs: number[] = [];
  #isClosing = false;

  constructor(options: OwnRedisOptions) {
    this.#options = options;
    this.source = options.program;
    this.#dir = join(options.socketDir, 'redis');
    mkdirSync(this.#dir, { mode: 0o700 });
    this.address = { path: join(this.#dir, 'socket') };
    this.#logFile = options.logFile ?? join(this.#dir, 'redis.log');
  }

  async start(): Promise<void> {
    this.#spawn();
    const deadline = Date.now() + START_TIMEOUT_MS;
    for (;;) {
      const problem = await checkRedis(this.address, { timeoutMs: 1_000 }).then(
        ({ version }) => { this.version = version; },
        (error: AssayError) => error,
      );
      if (problem === undefined) return;
      if (problem.code !== 'REDIS_UNREACHABLE') throw problem;
      if (this.#deathsMs.length > 0 || Date.now() > deadline) throw this.#describeDeath();
      await sleep(POLL_MS);
    }
  }

  pid(): number | undefined {
    return this.#process?.pid;
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    this.#process?.kill('SIGKILL');
    await this.#process?.exited;
    rmSync(this.#dir, { recursive: true, force: true });
  }

  #spawn(): void {
    const child = this.#options.spawn({ command: [this.#options.program, ...buildArguments(this.address.path, this.#dir)], logFile: this.#logFile });
    this.#process = child;
    void child.exited.then(({ code, signal }) => this.#handleDeath(signal ?? `exit code ${code}`));
  }

  /** Clients connect again by themselves, and the append-only file brings their keys back. */
  #handleDeath(how: string): void {
    if (this.#isClosing) return;
    this.#deathsMs = [...this.#deathsMs.filter((at) => Date.now() - at < RESTART_WINDOW_MS), Date.now()];
    if (this.version === '') return;
    if (this.#deathsMs.length > MAX_RESTARTS) {
      this.#options.onLost?.(this.#describeDeath());
      return;
    }
    this.#options.log.warn({ how }, 'Redis died; starting it again');
    this.#spawn();
    this.#options.onRestart?.(how);
  }

  #describeDeath(): AssayError {
    const problem = readLastLine(this.#logFile) || 'it does not start';
    return new AssayError('REDIS_START', { program: this.source, problem, log: this.#logFile });
  }
}

function buildArguments(socket: string, dataDir: string): string[] {
  const settings = {
    port: '0', unixsocket: socket, unixsocketperm: '700', dir: dataDir, appendonly: 'yes', appendfsync: 'everysec', save: '',
    'maxmemory-policy': 'noeviction', daemonize: 'no',
  };
  return Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
}

function readLastLine(file: string): string {
  try {
    return readFileSync(file, 'utf8').trimEnd().split('\n').at(-1) ?? '';
  } catch {
    return '';
  }
}
