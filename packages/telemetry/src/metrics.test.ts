import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { OUTCOME_NAMES, REQUEST_KINDS } from '@assay/domain';
import { describe, expect, it, onTestFinished } from 'vitest';
import { cloneDir, hasProgram, requireOrSkip } from '../../../test/support/requirements.ts';
import { BUILD_INFO, METRICS, type MetricEntry } from './catalogue.ts';
import { combineLabels, Metrics } from './metrics.ts';
import { parseListenAddress, serveMetrics } from './metrics-server.ts';

const BUILD = { version: '0.1.0', commit: null };
const entries = Object.entries<MetricEntry>(METRICS);

async function listSeries(metrics: Metrics): Promise<string[]> {
  return (await metrics.render()).split('\n').filter((line) => line !== '' && !line.startsWith('#')).map((line) => line.slice(0, line.lastIndexOf(' ')));
}

function useEverything(metrics: Metrics, run: number): void {
  for (const kind of REQUEST_KINDS) for (const outcome of OUTCOME_NAMES) metrics.set('assay_requests', run, { kind, outcome });
  metrics.setState('assay_run_state', run % 2 === 0 ? 'running' : 'scoring');
  metrics.setState('assay_probe_verdict', 'fits');
  metrics.set('assay_shards', run, { state: 'running' });
  metrics.set('assay_run_remaining_seconds', run);
  metrics.add('assay_results_total', 1, { outcome: 'ok' });
  metrics.add('assay_warnings_total', 1);
  metrics.observe('assay_shard_duration_seconds', run);
}

describe('the metrics', () => {
  it('have the same series before the first run as after a thousand runs of 64 shards', async () => {
    const metrics = new Metrics(BUILD);
    const before = await listSeries(metrics);
    for (let use = 0; use < 64_000; use += 64) useEverything(metrics, use);
    expect(await listSeries(metrics)).toEqual(before);
    expect(before.length).toBeLessThan(200);
  });

  it('are all in the catalogue, with every combination of their labels', async () => {
    const series = await listSeries(new Metrics(BUILD));
    const expected = entries.reduce((sum, [, { type, labels, buckets }]) => sum + (type === 'histogram' ? (buckets?.length ?? 0) + 3 : combineLabels(labels ?? {}).length), 1);
    expect(series).toHaveLength(expected);
    const names = new Set(series.map((line) => line.split('{')[0]?.replace(/^(assay_shard_duration_seconds)_(bucket|sum|count)$/, '$1')));
    expect([...names].sort()).toEqual([...Object.keys(METRICS), BUILD_INFO.name].sort());
  });

  it('hold one state at a time', async () => {
    const metrics = new Metrics(BUILD);
    metrics.setState('assay_run_state', 'running');
    metrics.setState('assay_run_state', 'scoring');
    const states = (await metrics.render()).split('\n').filter((line) => line.startsWith('assay_run_state{') && line.endsWith(' 1'));
    expect(states).toEqual(['assay_run_state{state="scoring"} 1']);
  });

  it('follow a total that something else keeps, and never fall with it', async () => {
    const metrics = new Metrics(BUILD);
    const readIdle = async () => (await metrics.render()).split('\n').find((line) => line.startsWith('assay_idle_seconds_total{cause="load"}'));
    for (const total of [2, 5, 4]) metrics.raise('assay_idle_seconds_total', total, { cause: 'load' });
    expect(await readIdle()).toBe('assay_idle_seconds_total{cause="load"} 5');
    metrics.onRender(() => metrics.raise('assay_idle_seconds_total', 7, { cause: 'load' }));
    expect(await readIdle()).toBe('assay_idle_seconds_total{cause="load"} 7');
  });

  it('refuse a label value that is not in the catalogue', () => {
    const metrics = new Metrics(BUILD);
    expect(() => metrics.set('assay_shards', 1, { state: 's0007' as 'running' })).toThrow('assay_shards has no state="s0007"');
    expect(() => metrics.setState('assay_run_state', 'asleep' as 'running')).toThrow('asleep');
  });

  it('have names that say what they are, in base units', () => {
    for (const [name, { type, help, labels }] of entries) {
      expect(name).toMatch(/^assay_[a-z][a-z0-9_]*$/);
      expect(name.endsWith('_total'), name).toBe(type === 'counter');
      expect(name).not.toMatch(/_(ms|milliseconds|minutes|mb|gb|kib|mib|gib|percent|count|sum|bucket|info)(_|$)/);
      expect(help, name).toMatch(/^[A-Z1].*\.$/);
      expect(Object.keys(labels ?? {})).not.toContain('le');
    }
  });

  it('are documented, each one and no other', () => {
    const text = readFileSync(join(cloneDir, 'docs', 'metrics.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `(assay_\w+)` \| (\w+) \| ([^|]*) \| (.*) \|$/gm)].map(([, name, type, labels, help]) => ({ name, type, labels, help }));
    const expected = entries.map(([name, { type, help, labels }]) => ({
      name, type, help, labels: Object.entries(labels ?? {}).map(([label, values]) => `${label}: ${values.join(', ')}`).join('; ') || '-',
    }));
    const build = { name: BUILD_INFO.name, type: 'gauge', labels: BUILD_INFO.labels.join(', '), help: BUILD_INFO.help };
    expect(rows).toEqual([build, ...expected]);
  });

  describe('under promtool', () => {
    requireOrSkip('promtool', hasProgram('promtool'), 'it lints the metrics page; Prometheus packages have it');

    it('are without a complaint', async () => {
      const metrics = new Metrics(BUILD);
      useEverything(metrics, 3);
      const lint = spawnSync('promtool', ['check', 'metrics'], { input: await metrics.render(), encoding: 'utf8' });
      expect(lint.stderr + lint.stdout).toBe('');
      expect(lint.status).toBe(0);
    });
  });
});

describe('serveMetrics', () => {
  it('serves the page and nothing else, until it is closed', async () => {
    const metrics = new Metrics(BUILD);
    const server = await serveMetrics(metrics, { host: '127.0.0.1', port: 0 });
    const page = await fetch(`http://${server.address}/metrics`);
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
    expect(await page.text()).toBe(await metrics.render());
    expect((await fetch(`http://${server.address}/`)).status).toBe(404);
    expect((await fetch(`http://${server.address}/metrics`, { method: 'POST' })).status).toBe(405);
    await server.close();
    await expect(fetch(`http://${server.address}/metrics`)).rejects.toThrow('fetch failed');
  });

  it('says which address is taken, out of range or not this machine\'s', async () => {
    const other = createServer();
    await new Promise<void>((resolve) => { other.listen(0, '127.0.0.1', resolve); });
    onTestFinished(() => { other.close(); });
    const { port } = other.address() as AddressInfo;
    for (const address of [{ host: '127.0.0.1', port }, { host: '192.0.2.1', port: 9100 }, { host: '127.0.0.1', port: 70_000 }]) {
      await expect(serveMetrics(new Metrics(BUILD), address)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE', details: { address: `${address.host}:${address.port}` } });
    }
  });

  it.each([['0.0.0.0:9100', { host: '0.0.0.0', port: 9100 }], ['[::1]:9100', { host: '::1', port: 9100 }]])('reads %s', (text, address) => {
    expect(parseListenAddress(text)).toEqual(address);
  });
});
