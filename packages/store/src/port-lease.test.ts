import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { countRanges, leasePortRange, type PortRange, PORTS_PER_RANGE } from './port-lease.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';

const MODULE = fileURLToPath(new URL('port-lease.ts', import.meta.url));
const FIRST_PORT = 21_008;

async function lease(home: string, place = 0): Promise<PortRange> {
  const range = await leasePortRange(home, { place, firstPort: FIRST_PORT });
  if (!range) throw new Error('no range is left');
  onTestFinished(range.release);
  return range;
}

/** A real process that leases a range, binds its first port as an engine does, says which, and keeps both until it is told to end. */
async function startEngine(home: string) {
  const code = `const { leasePortRange } = await import(${JSON.stringify(MODULE)});
    const { createServer } = await import('node:net');
    const { first } = await leasePortRange(process.argv[1], { place: 0, firstPort: ${FIRST_PORT} });
    createServer().on('error', ({ code }) => console.log(code)).listen(first, () => console.log(first));
    process.stdin.on('end', () => process.exit()).resume();`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, home], { stdio: ['pipe', 'pipe', 'inherit'] });
  onTestFinished(() => { child.kill('SIGKILL'); });
  const [said] = (await once(child.stdout, 'data')) as [Buffer];
  return { said: said.toString().trim(), end: () => child.stdin.end(), ended: once(child, 'exit') };
}

test('ranges given at the same moment have no port in common', async () => {
  const home = makeTempDir();
  const ranges = await Promise.all(Array.from({ length: 8 }, () => lease(home)));
  const ports = ranges.flatMap(({ first }) => Array.from({ length: PORTS_PER_RANGE }, (_, place) => first + place));
  expect(new Set(ports).size).toBe(8 * PORTS_PER_RANGE);
});

test('eight processes that start in the same second and bind their port never collide, round after round', { timeout: 60_000 }, async () => {
  const home = makeTempDir();
  for (let round = 0; round < 3; round += 1) {
    const engines = await Promise.all(Array.from({ length: 8 }, () => startEngine(home)));
    const said = engines.map((engine) => engine.said);
    expect(said.filter((word) => !/^\d+$/.test(word))).toEqual([]);
    expect(new Set(said).size).toBe(8);
    engines.forEach(({ end }) => end());
    await Promise.all(engines.map(({ ended }) => ended));
  }
});

test('a range with a port that somebody uses is passed over', async () => {
  const home = makeTempDir();
  const { first, place, release } = await lease(home);
  release();
  const server = createServer().listen(first + 3);
  await once(server, 'listening');
  onTestFinished(() => { server.close(); });
  expect((await lease(home, place)).first).toBeGreaterThanOrEqual(first + PORTS_PER_RANGE);
});

test('the next range is another one, and a released one can be had again', async () => {
  const home = makeTempDir();
  const range = await lease(home);
  expect((await lease(home, range.place + 1)).first).not.toBe(range.first);
  range.release();
  expect((await lease(home, range.place)).first).toBe(range.first);
});

test('a home that cannot be written still gives free ports', async () => {
  const home = join(makeTempDir(), 'file');
  writeFileSync(home, '');
  expect((await lease(home)).first).toBeGreaterThanOrEqual(FIRST_PORT);
});

test('ranges go up to the last port from one that was asked for, and there is none where fewer than a range are left', () => {
  expect([31_990, 50_000, 65_520, 65_521].map((port) => countRanges(port))).toEqual([2_096, 971, 1, 0]);
  expect(countRanges()).toBe(750);
});
