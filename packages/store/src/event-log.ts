// events.ndjson, open for appending, without secrets. An event is in the file when `append` returns and, where the run depends
// on it, on disk when its promise resolves. A torn last line is cut when the log is opened, so that nothing is ever written behind it.
import { type FileHandle, open } from 'node:fs/promises';
import { fstatSync, ftruncateSync, writeSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { redactSecrets } from '@assay/domain';
import { encodeLine } from '@assay/protocol';
import { syncFolder } from './atomic-file.ts';
import { toDiskError } from './disk.ts';
import { parseLine, scanLines } from './line-scan.ts';
import { isDurable, type LoggedEvent, loggedEventSchema, type RunEvent } from './run-events.ts';
import { applyEvent, foldEvents, nextAttempt, type RunHistory } from './run-history.ts';

interface EventRecord {
  events: LoggedEvent[];
  /** 1 where the last line had been cut short. */
  tornLines: number;
  wholeBytes: number;
}

/** Reads the events, leaving a torn tail where it is: a writer may be at work. Throws RESULTS_DAMAGED. */
export async function readEvents(path: string): Promise<EventRecord> {
  const events: LoggedEvent[] = [];
  const scan = await scanLines(path, (line) => { events.push(parseLine(line, path, loggedEventSchema)); });
  return { events, tornLines: scan.tornBytes > 0 ? 1 : 0, wholeBytes: scan.wholeBytes };
}

interface EventLogOptions {
  now?: () => Date;
  /** The latest epoch that the results know: where the events were lost, no epoch is counted twice. */
  epochsSeen?: number;
}

/** Opens the log under the run's lock, cuts a torn tail and takes up the history. */
export async function openEventLog(path: string, { now = () => new Date(), epochsSeen = 0 }: EventLogOptions = {}): Promise<EventLog> {
  const { events, tornLines, wholeBytes } = await readEvents(path);
  const file = await open(path, 'a').catch((error: unknown) => { throw toDiskError(error, dirname(path)); });
  if (tornLines > 0) await file.truncate(wholeBytes);
  await file.sync();
  await syncFolder(dirname(path));
  return new EventLog({ file, path, now, events, tornLines, epochsSeen });
}

export class EventLog {
  readonly history: RunHistory;
  /** Lines cut when the log was opened. */
  readonly tornLines: number;
  readonly #file: FileHandle;
  readonly #path: string;
  readonly #now: () => Date;
  readonly #epochsSeen: number;
  readonly #listeners = new Set<(event: LoggedEvent) => void>();

  constructor(parts: { file: FileHandle; path: string; now: () => Date; events: readonly LoggedEvent[]; tornLines: number; epochsSeen: number }) {
    this.#file = parts.file;
    this.#path = parts.path;
    this.#now = parts.now;
    this.tornLines = parts.tornLines;
    this.#epochsSeen = parts.epochsSeen;
    this.history = foldEvents(parts.events);
  }

  /** Writes at once, in the order of the calls; resolves when the event is as durable as its type demands. */
  async append(event: RunEvent): Promise<void> {
    const logged = { at: this.#now().toISOString(), ...redactSecrets(event) } as LoggedEvent;
    loggedEventSchema.parse(logged);
    this.#write(Buffer.from(encodeLine(logged)));
    applyEvent(this.history, logged);
    for (const listener of this.#listeners) listener(logged);
    if (isDurable(event.type)) await this.#file.datasync();
  }

  /** Starts the next epoch and says which it is. */
  async beginEpoch(start: { pid: number; version: string; commit: string | null; command: string[] }): Promise<number> {
    const epoch = Math.max(this.history.epoch, this.#epochsSeen) + 1;
    await this.append({ type: 'epoch_started', epoch, ...start });
    if (this.tornLines > 0) {
      const message = `the last line of ${basename(this.#path)} was cut short and has been removed`;
      await this.append({ type: 'warning', epoch, code: 'TORN_LINE', message });
    }
    return epoch;
  }

  /** Starts the next attempt of a shard of this epoch and says which it is. Its results file may be opened afterwards. */
  async beginAttempt(start: { shard: string; worker: string; begin: number; end: number }): Promise<number> {
    const { epoch } = this.history;
    const attempt = nextAttempt(this.history, epoch, start.shard);
    await this.append({ type: 'shard_started', epoch, attempt, ...start });
    return attempt;
  }

  /** Calls `listener` for every further event; returns what ends that. */
  subscribe(listener: (event: LoggedEvent) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  async close(): Promise<void> {
    await this.#file.sync();
    await this.#file.close();
  }

  #write(line: Buffer): void {
    const before = fstatSync(this.#file.fd).size;
    try {
      for (let done = 0; done < line.length;) done += writeSync(this.#file.fd, line, done);
    } catch (error) {
      ftruncateSync(this.#file.fd, before);
      throw toDiskError(error, dirname(this.#path));
    }
  }
}
