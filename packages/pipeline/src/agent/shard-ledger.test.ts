import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Ending, type LedgerShard, ShardLedger } from './shard-ledger.ts';

function ledgerOf(requests: number, { final = new Set<number>(), isAtomic = false } = {}): { ledger: ShardLedger; shard: LedgerShard; final: Set<number> } {
  const order = Uint32Array.from({ length: requests }, (_, row) => row);
  const cut = [{ id: 's0000', begin: 0, end: requests, requests, tokens: requests, cost: requests }];
  const ledger = new ShardLedger({ shards: cut, order, isFinal: (row) => final.has(row), isAtomic, logMove: () => undefined });
  return { ledger, shard: ledger.shards.get('s0000') as LedgerShard, final };
}

function run(ledger: ShardLedger, shard: LedgerShard): void {
  ledger.move(shard, 'leased');
  ledger.move(shard, 'running');
}

test('an attempt that has been superseded is not found', () => {
  const { ledger, shard } = ledgerOf(4);
  run(ledger, shard);
  ledger.release(shard, 'failed');
  expect(ledger.find('s0000', 1)).toBeUndefined();
  expect(ledger.find('s0000', 2)).toBe(shard);
});

test('a shard that has ended is not found', () => {
  const { ledger, shard } = ledgerOf(4);
  run(ledger, shard);
  ledger.move(shard, 'done');
  expect(ledger.find('s0000', 1)).toBeUndefined();
  expect(ledger.openCount()).toBe(0);
});

test('requests with a final result are skipped, but never in an atomic shard', () => {
  const final = new Set([1, 2]);
  const shared = ledgerOf(4, { final });
  expect(shared.ledger.finalRowsOf(shared.shard)).toEqual([1, 2]);
  const atomic = ledgerOf(4, { final, isAtomic: true });
  expect(atomic.ledger.finalRowsOf(atomic.shard)).toEqual([]);
});

test('a shard that crashed once runs alone, so that the next crash is its own', () => {
  const { ledger, shard } = ledgerOf(4);
  run(ledger, shard);
  expect(ledger.release(shard, 'crashed')).toMatchObject({ kind: 'retry' });
  expect(shard.solo).toBe(true);
});

test('the last open request of a shard is not blamed for crashes that met it among others', () => {
  const { ledger, shard, final } = ledgerOf(4);
  run(ledger, shard);
  for (const row of [0, 1, 2]) final.add(row);
  const kinds = [ledger.release(shard, 'crashed').kind];
  for (let crash = 2; crash <= 3; crash += 1) {
    run(ledger, shard);
    kinds.push(ledger.release(shard, 'crashed').kind);
  }
  expect(kinds).toEqual(['retry', 'retry', 'isolated']);
});

test('a shard whose engine died after its last result has nothing left to blame', () => {
  const { ledger, shard, final } = ledgerOf(2);
  run(ledger, shard);
  ledger.release(shard, 'crashed');
  run(ledger, shard);
  for (const row of [0, 1]) final.add(row);
  expect(ledger.release(shard, 'crashed').kind).toBe('retry');
});

test('an atomic shard is never cut, and is given up after six attempts', () => {
  const { ledger, shard } = ledgerOf(4, { isAtomic: true });
  const kinds: string[] = [];
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    run(ledger, shard);
    kinds.push(ledger.release(shard, 'crashed').kind);
  }
  expect(kinds).toEqual(['retry', 'retry', 'retry', 'retry', 'retry', 'exhausted']);
});

test('attempts that ended for another reason than the shard are numbered, but no failure of it', () => {
  const { ledger, shard } = ledgerOf(4);
  for (let rung = 0; rung < 9; rung += 1) {
    run(ledger, shard);
    ledger.renew(shard);
  }
  run(ledger, shard);
  expect(ledger.release(shard, 'failed').kind).toBe('retry');
  expect(shard).toMatchObject({ attempt: 11, failures: 1 });
});

test('under another plan a shard has failed never', () => {
  const { ledger, shard } = ledgerOf(4);
  const kinds: string[] = [];
  for (let attempt = 1; attempt <= 6; attempt += 1) {
    if (attempt === 4) ledger.forgetFailures();
    run(ledger, shard);
    kinds.push(ledger.release(shard, 'failed').kind);
  }
  expect(kinds).toEqual(Array.from({ length: 6 }, () => 'retry'));
  expect(shard.attempt).toBe(7);
});

test('what ran out of memory under the last plan is cut at once, and a request by itself is named at once', () => {
  const { ledger, shard } = ledgerOf(2);
  run(ledger, shard);
  const verdict = ledger.release(shard, 'oom');
  const [half] = verdict.kind === 'split' ? verdict.halves : [];
  run(ledger, half as LedgerShard);
  expect(ledger.release(half as LedgerShard, 'oom')).toEqual({ kind: 'isolated', row: 0 });
});

test('a request that ran out of memory beside another shard is tried once by itself', () => {
  const { ledger, shard } = ledgerOf(1);
  run(ledger, shard);
  expect(ledger.release(shard, 'oom').kind).toBe('retry');
  run(ledger, shard);
  expect(ledger.release(shard, 'oom').kind).toBe('isolated');
});

describe('a request that ends every engine it meets', () => {
  /** Plays the agent: engines answer in order until they meet `poison`, then die. Returns rows isolated and engines lost. */
  function play(requests: number, poison: number, ending: Ending = 'crashed'): { isolated: number[]; crashes: number; final: Set<number> } {
    const { ledger, shard, final } = ledgerOf(requests);
    const waiting = [shard];
    const isolated: number[] = [];
    let crashes = 0;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      run(ledger, next);
      const rows = ledger.rowsOf(next).filter((row) => !final.has(row));
      if (!rows.includes(poison) || isolated.includes(poison)) {
        for (const row of rows) final.add(row);
        ledger.move(next, 'done');
        continue;
      }
      crashes += 1;
      const verdict = ledger.release(next, ending);
      if (verdict.kind === 'retry') waiting.push(verdict.shard);
      if (verdict.kind === 'split') waiting.push(...verdict.halves);
      if (verdict.kind === 'isolated') isolated.push(verdict.row);
    }
    return { isolated, crashes, final };
  }

  test('is found among 64 with at most 8 engines lost, and the other 63 are kept', () => {
    const { isolated, crashes, final } = play(64, 17);
    expect(isolated).toEqual([17]);
    expect(crashes).toBeLessThanOrEqual(8);
    expect(final.size).toBe(63);
  });

  test('is found among 64 by memory that it lacks, under no load twice', () => {
    const { isolated, crashes, final } = play(64, 17, 'oom');
    expect(isolated).toEqual([17]);
    expect(crashes).toBe(7);
    expect(final.size).toBe(63);
  });

  test('is found wherever it stands', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), (requests, seed) => {
      const poison = seed % requests;
      const { isolated, final } = play(requests, poison);
      expect(isolated).toEqual([poison]);
      expect(final.size).toBe(requests - 1);
    }));
  });
});
