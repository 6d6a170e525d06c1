// Appends the results of one attempt to its own file. A result counts only when `append` has resolved: then it is on disk.
// Many appends share one sync (256 results or a second), and a failed write leaves whole lines only.
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { AssayError, type AttemptKey } from '@assay/domain';
import { encodeLine, type Result } from '@assay/protocol';
import { syncFolder } from './atomic-file.ts';
import { toDiskError } from './disk.ts';
import type { ResultLedger } from './result-ledger.ts';
import { buildRunPaths, resultsFileName } from './run-paths.ts';

const SYNC_RESULTS = 256;
const SYNC_MS = 1000;

/** What the writer needs of a file; node's FileHandle is one. */
export interface ResultFile {
  write(buffer: Buffer, offset: number, length: number, position: number): Promise<{ bytesWritten: number }>;
  truncate(length: number): Promise<void>;
  datasync(): Promise<void>;
  close(): Promise<void>;
}

interface ResultWriterOptions extends AttemptKey {
  /** The run directory. */
  dir: string;
  /** Told of every result once it is durable. */
  ledger?: ResultLedger;
  openFile?: (path: string) => Promise<ResultFile>;
}

interface Batch {
  results: readonly Result[];
  lines: Buffer[];
  resolve: () => void;
  reject: (reason: unknown) => void;
}

interface Placed { result: Result; offset: number; length: number }

/** Creates the attempt's file; it must not be there. Call after the event log has begun the attempt. */
export async function openResultWriter(options: ResultWriterOptions): Promise<ResultWriter> {
  const folder = buildRunPaths(options.dir).resultsDir;
  const path = join(folder, resultsFileName(options));
  try {
    const file = await (options.openFile ?? openExclusively)(path);
    await syncFolder(folder);
    return new ResultWriter(file, path, options);
  } catch (error) {
    throw toDiskError(error, options.dir);
  }
}

function openExclusively(path: string): Promise<ResultFile> {
  return open(path, 'wx');
}

export class ResultWriter {
  readonly path: string;
  readonly key: AttemptKey;
  readonly #file: ResultFile;
  readonly #options: ResultWriterOptions;
  #queue: Promise<void> = Promise.resolve();
  #batches: Batch[] = [];
  #unsynced = 0;
  #timer: NodeJS.Timeout | undefined;
  #bytes = 0;
  #failure: unknown;
  #closing: Promise<void> | undefined;

  constructor(file: ResultFile, path: string, options: ResultWriterOptions) {
    this.#file = file;
    this.#options = options;
    this.path = path;
    this.key = { epoch: options.epoch, shard: options.shard, attempt: options.attempt };
  }

  /** Bytes of whole lines in the file: what a fence records after `close`. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Resolves when the results are durable; rejects with DISK_FULL and the like. After a failure every later call rejects. */
  append(results: readonly Result[]): Promise<void> {
    if (this.#closing) return Promise.reject(new AssayError('BUG', { problem: `${this.path} is closed` }));
    if (results.length === 0) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#batches.push({ results, lines: results.map((result) => Buffer.from(encodeLine(result))), resolve, reject });
      this.#unsynced += results.length;
      if (this.#unsynced >= SYNC_RESULTS) void this.flush();
      else this.#timer ??= setTimeout(() => void this.flush(), SYNC_MS);
    });
  }

  /** Writes and syncs what has been appended so far. Never rejects: the appends do. */
  flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batches = this.#batches;
    this.#batches = [];
    this.#unsynced = 0;
    this.#queue = this.#queue.then(() => this.#commit(batches));
    return this.#queue;
  }

  /** Flushes and closes the file; rejects where something could not be written. */
  close(): Promise<void> {
    this.#closing ??= this.flush().then(async () => {
      await this.#file.close();
      if (this.#failure !== undefined) throw this.#failure;
    });
    return this.#closing;
  }

  async #commit(batches: readonly Batch[]): Promise<void> {
    if (batches.length === 0) return;
    try {
      if (this.#failure !== undefined) throw this.#failure;
      const placed = await this.#write(batches);
      await this.#file.datasync();
      for (const { result, offset, length } of placed) this.#options.ledger?.add({ ...this.key, result, offset, length });
      for (const batch of batches) batch.resolve();
    } catch (error) {
      this.#failure ??= toDiskError(error, this.#options.dir);
      for (const batch of batches) batch.reject(this.#failure);
    }
  }

  async #write(batches: readonly Batch[]): Promise<Placed[]> {
    const lines = batches.flatMap((batch) => batch.lines);
    const results = batches.flatMap((batch) => batch.results);
    const data = Buffer.concat(lines);
    const start = this.#bytes;
    let written = 0;
    try {
      while (written < data.length) {
        const { bytesWritten } = await this.#file.write(data, written, data.length - written, start + written);
        written += bytesWritten;
      }
    } catch (error) {
      await this.#keepWholeLines(lines, written);
      throw error;
    }
    this.#bytes = start + data.length;
    let offset = start;
    return results.map((result, place) => {
      const length = (lines[place] as Buffer).length - 1;
      const here = { result, offset, length };
      offset += length + 1;
      return here;
    });
  }

  /** Of a write that broke off, the whole lines stay and the rest is cut. */
  async #keepWholeLines(lines: readonly Buffer[], written: number): Promise<void> {
    let whole = 0;
    for (const line of lines) {
      if (whole + line.length > written) break;
      whole += line.length;
    }
    this.#bytes += whole;
    // Where even this fails the torn line is recognised on reading.
    await this.#file.truncate(this.#bytes).catch(() => undefined);
  }
}
