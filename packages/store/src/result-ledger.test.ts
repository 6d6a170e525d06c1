import { isFinal, OUTCOME_NAMES } from '@assay/domain';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compareAttempts, type RecordedResult, ResultLedger } from './result-ledger.ts';
import { buildIndex } from './testing/sample-run.ts';

const ROWS = 6;
const index = buildIndex(ROWS);

const recorded: fc.Arbitrary<RecordedResult> = fc.record({
  epoch: fc.integer({ min: 1, max: 3 }), attempt: fc.integer({ min: 1, max: 3 }), shard: fc.constantFrom('s0000', 's0000.1', 's0001'),
  offset: fc.integer({ min: 0, max: 5 }), length: fc.constant(10),
  result: fc.record({ row: fc.integer({ min: 0, max: ROWS - 1 }), outcome: fc.constantFrom(...OUTCOME_NAMES) }),
});

const byPlace = (a: RecordedResult, b: RecordedResult) => compareAttempts(a, b) || a.offset - b.offset;

describe('the ledger', () => {
  it('accepts the earliest final result of each request, whatever the order in which results come', () => {
    fc.assert(fc.property(fc.array(recorded, { maxLength: 40 }), (results) => {
      const ledger = new ResultLedger(index);
      for (const result of results) ledger.add(result);
      for (let row = 0; row < ROWS; row += 1) {
        const finals = results.filter(({ result }) => result.row === row && isFinal(result.outcome)).sort(byPlace);
        const { epoch, shard, attempt, offset } = finals[0] ?? {};
        expect(ledger.placeOf(row)).toEqual(finals.length === 0 ? undefined : { file: { epoch, shard, attempt }, offset, length: 10 });
        expect(ledger.tries(row)).toBe(results.filter(({ result }) => result.row === row && !isFinal(result.outcome)).length);
      }
    }));
  });

  it('counts progress once a request: never backwards, never above the whole, with repeated results apart', () => {
    fc.assert(fc.property(fc.array(recorded, { maxLength: 60 }), (results) => {
      const ledger = new ResultLedger(index);
      let before = 0;
      for (const result of results) {
        ledger.add(result);
        expect(ledger.finalCount).toBeGreaterThanOrEqual(before);
        before = ledger.finalCount;
      }
      expect(before).toBeLessThanOrEqual(ROWS);
      expect(before + ledger.duplicates).toBe(results.filter(({ result }) => isFinal(result.outcome)).length);
      const counts = Object.values(ledger.countByOutcome()).reduce((sum, count) => sum + count, 0);
      expect(counts).toBe(new Set(results.map(({ result }) => result.row)).size);
      expect(ledger.progressOfTask(0).final + ledger.progressOfTask(1).final).toBe(before);
      expect(ledger.openRows().length).toBe(ROWS - before);
    }));
  });
});
