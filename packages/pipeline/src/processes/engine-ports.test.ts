import { type AddressInfo, createServer, type Server } from 'node:net';
import { leasePortRange } from '@assay/store';
import { expect, onTestFinished, test } from 'vitest';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';
import { EnginePorts } from './engine-ports.ts';

function openPorts(env: Record<string, string> = {}, home = makeTempDir()) {
  const ports = new EnginePorts(home, env);
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

test('replicas have ranges of their own also where the user\'s VLLM_PORT lies among the outgoing ports', async () => {
  const take = openPorts({ VLLM_PORT: '50000' });
  const [first, second] = [await take(0), await take(1)];
  expect(first).toBeGreaterThanOrEqual(50_000);
  expect(second).toBeGreaterThanOrEqual(first + 16);
});

test('where no range is left each replica has a port of its own, and none has the user\'s', async () => {
  const home = makeTempDir();
  const firstPort = 65_520;
  const held = await leasePortRange(home, { place: 0, firstPort });
  onTestFinished(() => held?.release());
  const take = openPorts({ VLLM_PORT: String(firstPort) }, home);
  const ports = [await take(0), await take(1), await take(1)];
  expect(ports.every((port) => port > 0 && port !== firstPort)).toBe(true);
  expect(new Set(ports).size).toBe(3);
});

test('above the last whole range there is none, and what a replica held is given back once', async () => {
  const take = openPorts({ VLLM_PORT: '65530' });
  expect(await take(0)).not.toBe(65_530);
  const home = makeTempDir();
  const own = openPorts({ VLLM_PORT: '65520' }, home);
  expect(await own(0)).toBe(65_520);
  await own(0);
  const other = await leasePortRange(home, { place: 0, firstPort: 65_520 });
  onTestFinished(() => other?.release());
  expect(other?.first).toBe(65_520);
  await own(0);
  expect(await leasePortRange(home, { place: 0, firstPort: 65_520 })).toBeUndefined();
});

test('eight replicas that load in the same second, twenty times over, never meet on a port', async () => {
  const home = makeTempDir();
  for (let round = 0; round < 20; round += 1) {
    const take = openPorts({}, home);
    const servers = await Promise.all([0, 1, 2, 3, 4, 5, 6, 7].map(async (replica) => listenFrom(await take(replica))));
    const ports = servers.map(portOf);
    expect(new Set(ports.map((port) => Math.floor(port / 16))).size, `round ${round}: ${ports.join(', ')}`).toBe(8);
    await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
  }
});

/** As vLLM's get_open_port does: the first port from there on that nobody listens on. */
async function listenFrom(port: number): Promise<Server> {
  const server = createServer();
  const isListening = await new Promise<boolean>((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, () => resolve(true));
  });
  return isListening ? server : listenFrom(port + 1);
}

const portOf = (server: Server): number => (server.address() as AddressInfo).port;
