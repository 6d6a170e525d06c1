// A run directory as a run leaves it in mid-work, made through the store's own door: 100 requests of two tasks, all leased.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { INDEX_COLUMNS, INDEX_MAGIC, INDEX_VERSION } from '@assay/protocol';
import { type EventLog, type OpenRunDirectory, openEventLog, openResultWriter, openRunDirectory, orderFile, writeRunJson } from '@assay/store';

export const REQUESTS = 100;
const PER_TASK = 50;

export interface SampleRun {
  run: OpenRunDirectory;
  events: EventLog;
}

/** `answered` are rows with a final result; the run's process is this one. */
export async function makeSampleRun(dir: string, answered: readonly number[], settings: Readonly<Record<string, unknown>> = {}): Promise<SampleRun> {
  const run = await openRunDirectory({ outputPath: dir, cwd: '/', model: 'sample', settings, now: new Date() });
  const events = await openEventLog(run.paths.events);
  await events.beginEpoch({ pid: process.pid, version: '0.0.0', commit: null, command: ['assay', 'run'] });
  await writeFile(run.paths.index, encodeIndex());
  await writeRunJson(run.paths.rendered, { tasks: [{ task: 'first' }, { task: 'second' }] });
  await writeFile(join(run.dir, orderFile(1)), Buffer.from(Uint32Array.from({ length: REQUESTS }, (_, row) => row).buffer));
  await events.append({ type: 'state_changed', epoch: 1, machine: 'run', from: 'probing', to: 'running' });
  await events.append({ type: 'order_written', epoch: 1, file: orderFile(1), rule: 'r', digest: 'd', rows: REQUESTS, shards: 1 });
  const attempt = await events.beginAttempt({ shard: 's0000', worker: 'engine-0', begin: 0, end: REQUESTS });
  const writer = await openResultWriter({ dir: run.dir, epoch: 1, shard: 's0000', attempt });
  await writer.append(answered.map((row) => ({ row, task: Math.floor(row / PER_TASK), ordinal: row % PER_TASK, repeat: 0, window: 0, outcome: 'ok', text: 'x' })));
  await writer.close();
  return { run, events };
}

function encodeIndex(): Buffer {
  const header = Buffer.alloc(16);
  header.write(INDEX_MAGIC, 'latin1');
  header.writeUInt32LE(INDEX_VERSION, 8);
  header.writeUInt32LE(REQUESTS, 12);
  const columns = INDEX_COLUMNS.map((name) => Uint32Array.from({ length: REQUESTS }, (_, row) => (
    { task: Math.floor(row / PER_TASK), ordinal: row % PER_TASK, kind: 2 } as Record<string, number>)[name] ?? 0));
  return Buffer.concat([header, Buffer.alloc(8 * REQUESTS), ...columns.map((column) => Buffer.from(column.buffer))]);
}
