// One attempt of a shard on disk and in the events: begun with a file of its own, and either counted or fenced off. Invariant: an
// attempt is in the events before a byte of it is written, and what is fenced never counts.
import type { AttemptKey, AttemptOutcome } from '@assay/domain';
import type { Result, ShardDone } from '@assay/protocol';
import { type EventLog, openResultWriter, readResults, type ResultLedger, type ResultWriter, scanAttempt } from '@assay/store';
import type { WorkerFailure } from '@assay/workers';
import type { LedgerShard, ShardLedger } from './shard-ledger.ts';

/** Where attempts are kept. */
export interface AttemptStore {
  dir: string;
  epoch: number;
  events: EventLog;
  results: ResultLedger;
  shards: Pick<ShardLedger, 'rowsOf'>;
}

export interface AttemptReport {
  shard: LedgerShard;
  attempt: number;
  worker: string;
  outcome: AttemptOutcome;
  /** From its lease to its start in an engine, from there to the engine's last word, and from that until its results count. */
  seconds: { wait: number; engine: number; commit?: number };
  /** Results stored by it. */
  results: number;
  done?: ShardDone;
  failure?: WorkerFailure;
}

interface Beginning {
  shard: LedgerShard;
  worker: string;
  /** strict: what it stores counts when the shard is whole, not line by line. */
  countsWhole: boolean;
  leasedAtMs?: number | undefined;
}

interface Begun extends Beginning {
  number: number;
  writer: ResultWriter;
}

export async function beginAttempt(store: AttemptStore, beginning: Beginning): Promise<Attempt> {
  const { dir, epoch, events, results } = store;
  const { shard, worker, countsWhole } = beginning;
  const number = await events.beginAttempt({ shard: shard.id, worker, begin: shard.begin, end: shard.end });
  const file = { dir, epoch, shard: shard.id, attempt: number };
  const writer = await openResultWriter(countsWhole ? file : { ...file, ledger: results });
  return new Attempt(store, { ...beginning, number, writer });
}

export class Attempt {
  readonly shard: LedgerShard;
  readonly number: number;
  readonly worker: string;
  readonly #store: AttemptStore;
  readonly #writer: ResultWriter;
  readonly #countsWhole: boolean;
  readonly #startedAtMs = Date.now();
  readonly #leasedAtMs: number;
  #answeredAtMs: number | undefined;
  readonly #appends: Promise<void>[] = [];
  #results = 0;

  constructor(store: AttemptStore, { shard, worker, countsWhole, leasedAtMs, number, writer }: Begun) {
    this.#store = store;
    this.shard = shard;
    this.number = number;
    this.worker = worker;
    this.#writer = writer;
    this.#countsWhole = countsWhole;
    this.#leasedAtMs = leasedAtMs ?? this.#startedAtMs;
  }

  get key(): AttemptKey {
    return { epoch: this.#store.epoch, shard: this.shard.id, attempt: this.number };
  }

  /** Resolves when they are durable and `onDurable` was told. */
  append(results: readonly Result[], onDurable: () => void = () => undefined): Promise<void> {
    const durable = this.#writer.append(results).then(() => {
      this.#results += results.length;
      onDurable();
    });
    this.#appends.push(durable);
    return durable;
  }

  /** The engine has said its last word on it. */
  noteAnswered(): void {
    this.#answeredAtMs = Date.now();
  }

  /** Resolves when all that was appended is durable. */
  async finish(): Promise<void> {
    // Closing syncs what the writer still holds back; waiting for the appends first would wait for its timer.
    await this.#writer.close();
    await Promise.all(this.#appends);
  }

  /** Makes it count; returns the results that had waited for that. */
  async commit(done: ShardDone): Promise<readonly Result[]> {
    const { dir, events, results, shards } = this.#store;
    const { type, id, firstStepAt, ...facts } = done;
    await events.append({ type: 'shard_done', ...facts });
    if (!this.#countsWhole) return [];
    await scanAttempt(dir, { ledger: results, attempt: done, history: events.history });
    return readResults(dir, results, shards.rowsOf(this.shard));
  }

  /** What may still be written to its file does not count from here on. */
  async fence(reason: string): Promise<void> {
    await this.#writer.close();
    await this.#store.events.append({ type: 'shard_fenced', ...this.key, bytes: this.#writer.bytes, reason });
  }

  report(how: Pick<AttemptReport, 'outcome' | 'done' | 'failure'>): AttemptReport {
    const nowMs = Date.now();
    const answeredAtMs = this.#answeredAtMs ?? nowMs;
    const seconds = {
      wait: (this.#startedAtMs - this.#leasedAtMs) / 1000, engine: (answeredAtMs - this.#startedAtMs) / 1000,
      ...(how.done ? { commit: (nowMs - answeredAtMs) / 1000 } : {}),
    };
    return { shard: this.shard, attempt: this.number, worker: this.worker, seconds, results: this.#results, ...how };
  }
}
