import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { EnginePorts } from './engine-ports.ts';

function openPorts(env: Record<string, string> = {}) {
  const ports = new EnginePorts(makeTempDir(), env);
  onTestFinished(() => ports.release());
  return async (replica: number) => Number((await ports.take(replica))['VLLM_PORT']);
}

test('replicas that load at once begin at different ports, and one that loads again at yet another', async () => {
  const take = openPorts();
  const first = await Promise.all([0, 1, 2, 3].map(take));
  const again = await take(1);
  expect(new Set([...first, again]).size).toBe(5);
});

test('the user\'s own VLLM_PORT is where the ranges begin', async () => {
  const take = openPorts({ VLLM_PORT: '27520' });
  const ports = [await take(0), await take(1)];
  expect(ports[0]).toBeGreaterThanOrEqual(27_520);
  expect(ports[1]).toBeGreaterThan(ports[0] as number);
});

test('a VLLM_PORT that is none does not count', async () => {
  expect(await openPorts({ VLLM_PORT: 'tcp://10.0.0.1:80' })(0)).toBeGreaterThanOrEqual(20_000);
});
