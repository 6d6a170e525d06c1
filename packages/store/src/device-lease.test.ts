import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { leaseDevices } from './device-lease.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';

const MODULE = fileURLToPath(new URL('device-lease.ts', import.meta.url));

/** A real process that leases these devices and keeps them. */
async function startHolder(home: string, ids: string[]) {
  const code = `const { leaseDevices } = await import(${JSON.stringify(MODULE)}); globalThis.lease = await leaseDevices(process.argv[1], process.argv.slice(2)); console.log('held'); setInterval(() => {}, 1e6);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', code, home, ...ids], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => { child.kill('SIGKILL'); });
  await once(child.stdout, 'data');
  return child;
}

describe('leaseDevices', () => {
  it('gives a device to one run alone, and names the process that holds the others', async () => {
    const home = makeTempDir();
    const holder = await startHolder(home, ['GPU-a', 'MIG-GPU-b/7/0']);
    const lease = await leaseDevices(home, ['GPU-c', 'GPU-a', 'MIG-GPU-b/7/0']);
    onTestFinished(lease.release);
    expect(lease).toMatchObject({ leased: ['GPU-c'], busy: [{ id: 'GPU-a', pid: holder.pid }, { id: 'MIG-GPU-b/7/0', pid: holder.pid }] });
  });

  it('gets back the devices of a run that was killed', async () => {
    const home = makeTempDir();
    const holder = await startHolder(home, ['GPU-a']);
    const ended = once(holder, 'exit');
    holder.kill('SIGKILL');
    await ended;
    const lease = await leaseDevices(home, ['GPU-a']);
    onTestFinished(lease.release);
    expect(lease).toMatchObject({ leased: ['GPU-a'], busy: [] });
  });

  it('is free again after release, also within one process, and a release may be repeated', async () => {
    const home = makeTempDir();
    const first = await leaseDevices(home, ['GPU-a', 'GPU-a', 'GPU-b']);
    expect(first.leased).toEqual(['GPU-a', 'GPU-b']);
    expect((await leaseDevices(home, ['GPU-a'])).busy).toEqual([{ id: 'GPU-a', pid: process.pid }]);
    first.release();
    first.release();
    const second = await leaseDevices(home, ['GPU-b', 'GPU-a']);
    expect(second.leased).toEqual(['GPU-b', 'GPU-a']);
    second.release();
  });

  it('never gives two of many at once the same device', async () => {
    const home = makeTempDir();
    const leases = await Promise.all(Array.from({ length: 8 }, () => leaseDevices(home, ['GPU-a', 'GPU-b'])));
    expect(leases.flatMap(({ leased }) => leased).sort()).toEqual(['GPU-a', 'GPU-b']);
    leases.forEach(({ release }) => release());
  });

  it('leaves no trace where no device is asked for', async () => {
    const home = makeTempDir();
    expect(await leaseDevices(home, [])).toMatchObject({ leased: [], busy: [] });
    expect(readdirSync(home)).toEqual([]);
  });

  it('says that the home folder cannot be written', async () => {
    const home = join(makeTempDir(), 'file');
    writeFileSync(home, '');
    await expect(leaseDevices(home, ['GPU-a'])).rejects.toMatchObject({ code: 'OUTPUT_NOT_WRITABLE' });
  });
});
