import { describe, expect, test } from 'vitest';
import { DeliveryLedger } from './delivery-ledger.ts';

describe('deliveries of one attempt', () => {
  test('share one run while it lasts, and its outcome afterwards', async () => {
    const ledger = new DeliveryLedger();
    const gate = Promise.withResolvers<void>();
    let runs = 0;
    const start = () => { runs += 1; return gate.promise; };
    const first = ledger.deliver('a', start);
    const second = ledger.deliver('a', start);
    gate.resolve();
    await Promise.all([first, second, ledger.deliver('a', start)]);
    expect(runs).toBe(1);
    expect(ledger.answersFor('a')).toBe(true);
  });

  test('share a failure too, for which the ledger does not answer', async () => {
    const ledger = new DeliveryLedger();
    const start = () => Promise.reject(new Error('no'));
    await expect(ledger.deliver('a', start)).rejects.toThrow('no');
    await expect(ledger.deliver('a', () => Promise.resolve())).rejects.toThrow('no');
    expect(ledger.answersFor('a')).toBe(false);
    expect(ledger.answersFor('b')).toBe(false);
  });

  test('an attempt that was withdrawn and has not come yet is not started', async () => {
    const ledger = new DeliveryLedger();
    ledger.cancel('a', 'canceled');
    await expect(ledger.deliver('a', () => Promise.reject(new Error('started')))).resolves.toBeUndefined();
  });

  test('abortAll aborts what runs, and settle waits for it', async () => {
    const ledger = new DeliveryLedger();
    const order: string[] = [];
    void ledger.deliver('a', (signal) => new Promise((resolve) => signal.addEventListener('abort', () => { order.push('aborted'); resolve(); })));
    ledger.abortAll('over');
    await ledger.settle();
    expect(order).toEqual(['aborted']);
  });
});
