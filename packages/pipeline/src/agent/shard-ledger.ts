// What the agent knows of this epoch's shards: state, attempt, failures, and which requests are final.
// An attempt other than the ledger's is refused, so an attempt that was withdrawn cannot be committed by its old holder.
import { isEndState, moveState, type ShardId, type ShardState } from '@assay/domain';
import type { Shard } from '@assay/planner';

/** A shard that ended its engine this often is cut in two, until the request that does it is alone. */
const CRASHES_BEFORE_BISECTION = 2;
/** A request is named as the cause when the engine ended this often while it was alone: once may be somebody else's doing. */
const CRASHES_ALONE = 2;
/** A shard whose attempts fail without ending the engine, or that may not be cut, is given up after this many under one plan. */
const MAX_FAILURES = 6;

export interface LedgerShard {
  id: ShardId;
  begin: number;
  end: number;
  /** Names the results file, so it only rises, whatever the attempt before ended with. */
  attempt: number;
  state: ShardState;
  /** Attempts that failed under the plan in force, as are those below. */
  failures: number;
  crashes: number;
  /** Those of attempts that began with one request without a final result. */
  crashesAlone: number;
  /** Requests without a final result when the latest attempt began. */
  openAtStart: number;
  /** Runs alone in its engine, so that a further crash is its own. */
  solo: boolean;
  /** How often what it came from was cut in two. */
  cuts: number;
}

/** How an attempt failed: its engine goes on, or ended under it, or ran out of memory and there is no smaller plan. */
export type Ending = 'failed' | 'crashed' | 'oom';

/** What follows from a failed attempt. `isolated`: the one request that ends the engine, at this row. */
export type Verdict =
  | { kind: 'retry'; shard: LedgerShard }
  | { kind: 'split'; halves: LedgerShard[] }
  | { kind: 'isolated'; row: number }
  | { kind: 'exhausted'; rows: number[] };

const NO_FAILURES = { failures: 0, crashes: 0, crashesAlone: 0 } as const;
const FRESH = { ...NO_FAILURES, attempt: 1, state: 'pending', openAtStart: 0, cuts: 0 } as const;

interface LedgerInput {
  shards: readonly Shard[];
  /** Rows in the order of dispatch; shards are ranges of it. */
  order: Uint32Array;
  /** Whether a request's final result is on disk. */
  isFinal(row: number): boolean;
  /** strict: a shard counts whole or not at all. */
  isAtomic: boolean;
  logMove(shard: ShardId, from: ShardState, to: ShardState): void;
}

export class ShardLedger {
  readonly shards = new Map<ShardId, LedgerShard>();
  readonly #input: LedgerInput;

  constructor(input: LedgerInput) {
    this.#input = input;
    for (const { id, begin, end } of input.shards) {
      this.#insert({ ...FRESH, id, begin, end, solo: input.isAtomic });
    }
  }

  /** The shard, where this attempt of it is the one to run; undefined where it was superseded or has ended. */
  find(id: ShardId, attempt: number): LedgerShard | undefined {
    const shard = this.shards.get(id);
    return shard !== undefined && shard.attempt === attempt && !isEndState('shard', shard.state) ? shard : undefined;
  }

  move(shard: LedgerShard, to: ShardState): void {
    shard.state = moveState('shard', shard.state, to, ({ from }) => this.#input.logMove(shard.id, from, to));
    if (to === 'running') shard.openAtStart = this.#openPlacesOf(shard).length;
  }

  /** Rows of the shard that need not run again; none where shards are atomic. */
  finalRowsOf(shard: LedgerShard): number[] {
    return this.#input.isAtomic ? [] : this.rowsOf(shard).filter((row) => this.#input.isFinal(row));
  }

  /** Decides what becomes of a shard whose attempt failed. */
  release(shard: LedgerShard, ending: Ending): Verdict {
    this.move(shard, 'pending');
    shard.attempt += 1;
    shard.failures += 1;
    if (ending === 'oom' && !this.#input.isAtomic) return this.#lighten(shard);
    if (ending === 'crashed') {
      shard.crashes += 1;
      if (shard.openAtStart === 1) shard.crashesAlone += 1;
      shard.solo = true;
      if (shard.crashes >= CRASHES_BEFORE_BISECTION && !this.#input.isAtomic) return this.#bisect(shard);
    }
    if (shard.failures < MAX_FAILURES) return { kind: 'retry', shard };
    return { kind: 'exhausted', rows: this.rowsOf(shard).filter((row) => !this.#input.isFinal(row)) };
  }

  /** The attempt ended for a reason that says nothing about the shard, such as a smaller plan: it runs again as it is. */
  renew(shard: LedgerShard): void {
    this.move(shard, 'pending');
    shard.attempt += 1;
  }

  /** Another plan is in force: how attempts ended under the one before says nothing about it. */
  forgetFailures(): void {
    for (const shard of this.shards.values()) Object.assign(shard, NO_FAILURES);
  }

  rowsOf({ begin, end }: LedgerShard): number[] {
    return Array.from(this.#input.order.subarray(begin, end));
  }

  openCount(): number {
    return [...this.shards.values()].filter(({ state }) => !isEndState('shard', state)).length;
  }

  doneCount(): number {
    return [...this.shards.values()].filter(({ state }) => state === 'done').length;
  }

  /** The same load under the same plan would run out of memory again: there is less of it each time, down to one request by itself. */
  #lighten(shard: LedgerShard): Verdict {
    const open = this.#openPlacesOf(shard);
    if (open.length > 1) return this.#cut(shard, open);
    if (open.length === 1 && shard.solo && shard.openAtStart === 1) return this.#isolate(open);
    shard.solo = true;
    return { kind: 'retry', shard };
  }

  #bisect(shard: LedgerShard): Verdict {
    const open = this.#openPlacesOf(shard);
    if (open.length > 1) return this.#cut(shard, open);
    return open.length === 1 && shard.crashesAlone >= CRASHES_ALONE ? this.#isolate(open) : { kind: 'retry', shard };
  }

  #isolate([only]: readonly number[]): Verdict {
    return { kind: 'isolated', row: this.#input.order[only as number] as number };
  }

  #cut(shard: LedgerShard, open: readonly number[]): Verdict {
    const half = Math.floor(open.length / 2);
    const middle = open[half] as number;
    this.move(shard, 'canceled');
    const cuts = [{ begin: shard.begin, end: middle, requests: half }, { begin: middle, end: shard.end, requests: open.length - half }];
    // A half has one crash on its account already: the next one is enough to cut it again, or to name its only request.
    const crashes = CRASHES_BEFORE_BISECTION - 1;
    const halves = cuts.map(({ requests, ...range }, number) => this.#insert({
      ...FRESH, ...range, id: `${shard.id}.${number}`, crashes, crashesAlone: requests === 1 ? CRASHES_ALONE - 1 : 0, solo: true, cuts: shard.cuts + 1,
    }));
    return { kind: 'split', halves };
  }

  #openPlacesOf({ begin, end }: LedgerShard): number[] {
    const places = Array.from({ length: end - begin }, (_, place) => begin + place);
    return places.filter((place) => !this.#input.isFinal(this.#input.order[place] as number));
  }

  #insert(shard: LedgerShard): LedgerShard {
    this.shards.set(shard.id, shard);
    return shard;
  }
}
