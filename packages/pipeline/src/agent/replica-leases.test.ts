import type { Loaded } from '@assay/protocol';
import type { WorkerHandle } from '@assay/workers';
import { expect, test } from 'vitest';
import { ReplicaLeases } from './replica-leases.ts';
import type { Lease, Replica } from './replica.ts';

const buildReplica = (number: number): Replica => ({
  number, handle: { name: `engine-${number}` } as WorkerHandle, plan: undefined, loaded: {} as Loaded, inFlight: 0, hasSolo: false, barrenRestarts: 0, isDown: false,
});

function openLeases(count: number) {
  const replicas = Array.from({ length: count }, (_, number) => buildReplica(number));
  const leases = new ReplicaLeases(replicas);
  const granted: Lease[] = [];
  const take = async (solo = false, signal = new AbortController().signal) => {
    const lease = await leases.take({ solo, signal });
    granted.push(lease);
    return lease;
  };
  return { replicas, leases, granted, take };
}

const settle = () => new Promise((resolve) => setImmediate(resolve));

test('the least busy replica comes first, and each takes two shards', async () => {
  const { take, granted } = openLeases(2);
  for (let shard = 0; shard < 4; shard += 1) await take();
  expect(granted.map(({ replica }) => replica.number)).toEqual([0, 1, 0, 1]);
  const fifth = take();
  await settle();
  expect(granted).toHaveLength(4);
  granted[1]?.release();
  expect((await fifth).replica.number).toBe(1);
});

test('a shard that is to be alone waits for an idle replica, and keeps others out of it', async () => {
  const { take, granted } = openLeases(1);
  const first = await take();
  const solo = take(true);
  await settle();
  expect(granted).toHaveLength(1);
  first.release();
  const alone = await solo;
  const next = take();
  await settle();
  expect(granted).toHaveLength(2);
  alone.release();
  await next;
});

test('a lease that is released twice gives back one place', async () => {
  const { take, replicas } = openLeases(1);
  const [first] = [await take(), await take()];
  first.release();
  first.release();
  expect(replicas[0]?.inFlight).toBe(1);
});

test('a replica that is down or not loaded is given to nobody until that changes', async () => {
  const { take, replicas, leases, granted } = openLeases(1);
  replicas[0]!.isDown = true;
  const lease = take();
  leases.announce();
  await settle();
  expect(granted).toHaveLength(0);
  replicas[0]!.isDown = false;
  leases.announce();
  await expect(lease).resolves.toBeDefined();
});

test('a refusal ends those who wait and those who come, and so does their own signal', async () => {
  const { take, replicas, leases } = openLeases(1);
  replicas[0]!.isDown = true;
  const ending = new AbortController();
  const [called, waiting] = [take(false, ending.signal), take()];
  called.catch(() => undefined);
  ending.abort(new Error('called back'));
  await expect(called).rejects.toThrow('called back');
  leases.refuse(new Error('cannot be loaded'));
  await expect(waiting).rejects.toThrow('cannot be loaded');
  await expect(take()).rejects.toThrow('cannot be loaded');
});
