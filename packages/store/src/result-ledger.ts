// Which result counts for each request: the lowest (epoch, attempt, line) among the final ones. Kept as numbers by row, a few
// bytes each, so that a million requests fit; the results themselves are read again where they are needed.
import { type AttemptKey, formatAttempt, type Outcome, OUTCOME_NAMES, isFinal, REQUEST_KINDS, type RequestKind } from '@assay/domain';
import { type RequestIndex, type Result } from '@assay/protocol';

export interface RecordedResult extends AttemptKey {
  result: Pick<Result, 'row' | 'outcome'>;
  /** Place of its line in the attempt's file, without the newline. */
  offset: number;
  length: number;
}

export interface ResultPlace {
  file: AttemptKey;
  offset: number;
  length: number;
}

type OutcomeCounts = Record<Outcome, number>;

const NONE = -1;
const MOST_TRIES = 255;
const OUTCOME_NUMBER = new Map(OUTCOME_NAMES.map((name, number) => [name, number]));

export class ResultLedger {
  readonly index: RequestIndex;
  /** Final results beyond the first of their request. */
  duplicates = 0;
  finalCount = 0;
  /** Lines cut short, and bytes beyond the fence of their attempt. */
  tornLines = 0;
  fencedBytes = 0;
  readonly #files: AttemptKey[] = [];
  readonly #fileNumbers = new Map<string, number>();
  readonly #file: Int32Array;
  readonly #offset: Float64Array;
  readonly #length: Uint32Array;
  readonly #outcome: Int8Array;
  readonly #tries: Uint8Array;
  readonly #finalByTask: Uint32Array;
  #taskRows: Uint32Array[] | undefined;

  constructor(index: RequestIndex) {
    this.index = index;
    this.#file = new Int32Array(index.count).fill(NONE);
    this.#offset = new Float64Array(index.count);
    this.#length = new Uint32Array(index.count);
    this.#outcome = new Int8Array(index.count).fill(NONE);
    this.#tries = new Uint8Array(index.count);
    this.#finalByTask = new Uint32Array(1 + index.columns.task.reduce((most, task) => Math.max(most, task), 0));
  }

  /** Takes note of a durable result, in any order. */
  add({ result: { row, outcome }, offset, length, ...attempt }: RecordedResult): void {
    if (!isFinal(outcome)) {
      this.#tries[row] = Math.min(MOST_TRIES, this.tries(row) + 1);
      if (!this.isFinal(row)) this.#outcome[row] = OUTCOME_NUMBER.get(outcome) as number;
      return;
    }
    const isFirst = !this.isFinal(row);
    if (isFirst) {
      this.finalCount += 1;
      (this.#finalByTask[this.taskOf(row)] as number) += 1;
    } else {
      this.duplicates += 1;
      if (comparePlaces({ file: attempt, offset, length }, this.placeOf(row) as ResultPlace) >= 0) return;
    }
    this.#file[row] = this.#numberFile(attempt);
    this.#offset[row] = offset;
    this.#length[row] = length;
    this.#outcome[row] = OUTCOME_NUMBER.get(outcome) as number;
  }

  isFinal(row: number): boolean {
    return this.#file[row] !== NONE;
  }

  /** How often the request ended with an open outcome. */
  tries(row: number): number {
    return this.#tries[row] ?? 0;
  }

  /** The accepted outcome, else the latest open one, else undefined. */
  outcomeOf(row: number): Outcome | undefined {
    return OUTCOME_NAMES[this.#outcome[row] ?? NONE];
  }

  taskOf(row: number): number {
    return this.index.columns.task[row] as number;
  }

  placeOf(row: number): ResultPlace | undefined {
    const file = this.#files[this.#file[row] ?? NONE];
    return file && { file, offset: this.#offset[row] as number, length: this.#length[row] as number };
  }

  /** Requests without a final result, ascending; with `maxTries`, only those that may be tried again. */
  openRows(maxTries = Number.POSITIVE_INFINITY): Uint32Array {
    return Uint32Array.from(this.#allRows().filter((row) => !this.isFinal(row) && this.tries(row) < maxTries));
  }

  /** Rows of a task, ascending. */
  rowsOfTask(task: number): Uint32Array {
    this.#taskRows ??= this.#groupByTask();
    return this.#taskRows[task] ?? new Uint32Array();
  }

  /** Final results of a task, and its requests: it can be scored when they are equal. */
  progressOfTask(task: number): { final: number; requests: number } {
    return { final: this.#finalByTask[task] ?? 0, requests: this.rowsOfTask(task).length };
  }

  /** Requests by outcome; those not yet answered by their latest open one. */
  countByOutcome(): OutcomeCounts {
    return this.#count(this.#allRows());
  }

  countByKind(): Record<RequestKind, OutcomeCounts> {
    const rows = this.#allRows();
    return Object.fromEntries(REQUEST_KINDS.map((kind, number) => (
      [kind, this.#count(rows.filter((row) => this.index.columns.kind[row] === number))]
    ))) as Record<RequestKind, OutcomeCounts>;
  }

  countOfTask(task: number): OutcomeCounts {
    return this.#count(this.rowsOfTask(task));
  }

  #count(rows: Uint32Array): OutcomeCounts {
    const counts = Object.fromEntries(OUTCOME_NAMES.map((name) => [name, 0])) as OutcomeCounts;
    for (const row of rows) {
      const outcome = this.outcomeOf(row);
      if (outcome) counts[outcome] += 1;
    }
    return counts;
  }

  #allRows(): Uint32Array {
    return Uint32Array.from({ length: this.index.count }, (_, row) => row);
  }

  #groupByTask(): Uint32Array[] {
    const rows: number[][] = [];
    for (const row of this.#allRows()) (rows[this.taskOf(row)] ??= []).push(row);
    return Array.from(rows, (list) => Uint32Array.from(list ?? []));
  }

  #numberFile(attempt: AttemptKey): number {
    const name = formatAttempt(attempt);
    const known = this.#fileNumbers.get(name);
    if (known !== undefined) return known;
    this.#fileNumbers.set(name, this.#files.length);
    return this.#files.push({ epoch: attempt.epoch, shard: attempt.shard, attempt: attempt.attempt }) - 1;
  }
}

/** Order of acceptance. Shards tell apart what epoch and attempt do not. */
export function compareAttempts(a: AttemptKey, b: AttemptKey): number {
  return a.epoch - b.epoch || a.attempt - b.attempt || (a.shard < b.shard ? -1 : Number(a.shard > b.shard));
}

function comparePlaces(a: ResultPlace, b: ResultPlace): number {
  return compareAttempts(a.file, b.file) || a.offset - b.offset;
}
