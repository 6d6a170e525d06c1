// kill -9 at random moments of the engine workers, of Redis and of `assay run` itself, in a run of many shards. Nothing may be
// lost, nothing run twice that had a final result, and nothing left. ASSAY_CHAOS_SEED repeats another sequence.
import { foldEvents } from '@assay/store';
import { expect, test } from 'vitest';
import { AssayWorld, demoModel, type Ended, type Started } from '../support/assay-world.ts';
import { findChildren, killQuietly } from '../support/process-table.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { listEvents, listRowsByEpoch, listUnfinished, readRecord, requireManifest, waitForEvent } from '../support/run-record.ts';
import { readScores } from '../support/score-files.ts';
import { createRandom, type SeededRandom } from '../support/seeded-random.ts';
import { sleep } from '../support/wait-until.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const SEED = Number(process.env['ASSAY_CHAOS_SEED'] ?? 20_240_607);
const KILLS_PER_START = 4;
const MIN_KILLS = 20;

const SETTINGS = {
  model: 'simulated',
  model_args: { pretrained: demoModel, max_model_len: 4096, seconds_per_token: 0.0007, max_num_seqs: 8, max_num_batched_tokens: 512 },
  tasks: ['assay_demo'],
  include_path: `${cloneDir}/tasks`,
  plan: { data: 2 },
};

type Kind = 'engine' | 'redis' | 'run';
type Kills = Record<Kind, number>;

/** Kills one process of the kind, if there is one just now. */
function strike(kind: Kind, run: Started, random: SeededRandom): boolean {
  if (kind === 'run') return killQuietly(run.pid, 'SIGKILL');
  const found = findChildren(run.pid, kind === 'engine' ? 'assay_worker\0engine' : 'redis-server');
  return found.length > 0 && killQuietly(random.pick(found), 'SIGKILL');
}

/** When a start is disturbed: before it works, in the middle of its work, or while it scores and seals. */
const MOMENTS = {
  early: { state: undefined, kills: 0, mostMs: 4_000 },
  working: { state: 'running', kills: KILLS_PER_START, mostMs: 1_200 },
  scoring: { state: 'scoring', kills: 0, mostMs: 500 },
} as const;
const STARTS = ['working', 'early', 'working', 'working', 'working', 'working', 'scoring'] as const;

/** One start: kills of engines and Redis at random, then one of the run itself. */
async function disturb({ world, command, dir }: { world: AssayWorld; command: string[]; dir: string }, moment: keyof typeof MOMENTS, { random, kills }: { random: SeededRandom; kills: Kills }): Promise<Ended> {
  const { state, kills: before, mostMs } = MOMENTS[moment];
  // A start that was killed at once has begun no epoch.
  const { epoch } = foldEvents(await listEvents(dir));
  const run = world.start(command);
  if (state) await waitForEvent(run, dir, 'state_changed', (event) => event.epoch > epoch && event.to === state);
  const kinds: Kind[] = [...Array.from({ length: before }, () => random.pick<Kind>(['engine', 'redis'])), 'run'];
  for (const kind of kinds) {
    await sleep(random.between(100, mostMs));
    if (run.isOver()) break;
    if (strike(kind, run, random)) kills[kind] += 1;
  }
  return run.ended;
}

test(`at least ${MIN_KILLS} random kills lose nothing, repeat nothing and leave nothing`, async () => {
  const world = new AssayWorld();
  const random = createRandom(SEED);
  const kills: Kills = { engine: 0, redis: 0, run: 0 };
  const startedAtMs = Date.now();
  try {
    const config = world.writeConfig('chaos.yaml', SETTINGS);
    const [calm, dir] = [world.path('calm'), world.path('disturbed')];
    expect(await world.run(['run', '--config', config, '--output_path', calm])).toMatchObject({ exitCode: 0 });
    const command = ['run', '--config', config, '--output_path', dir];
    const ends: Ended[] = [];
    for (const moment of STARTS) ends.push(await disturb({ world, command, dir }, moment, { random, kills }));
    const last = await world.run(command);
    expect(last, last.stderr).toMatchObject({ exitCode: 0 });

    const { index, ledger } = await readRecord(dir);
    const total = kills.engine + kills.redis + kills.run;
    const others = ends.filter(({ signal }) => signal !== 'SIGKILL').map(({ exitCode }) => exitCode);
    console.log(`seed ${SEED}: ${total} kills (${kills.engine} engine, ${kills.redis} Redis, ${kills.run} assay run) in ${ends.length + 1} starts${others.length > 0 ? `, some ended by themselves: ${others}` : ''};`
      + ` ${index.count} requests, ${ledger.finalCount} final, ${ledger.duplicates} duplicates, ${ledger.tornLines} torn lines; ${Math.round((Date.now() - startedAtMs) / 1000)} s`);
    expect(total).toBeGreaterThanOrEqual(MIN_KILLS);
    for (const count of Object.values(kills)) expect(count).toBeGreaterThan(0);
    // A start ends by its kill, or because what was killed can't be replaced in that start (4): then the same command goes on.
    for (const end of ends) expect(end.signal ?? end.exitCode, end.stderr).toEqual(expect.toBeOneOf(['SIGKILL', 0, 4]));
    await expectSameResults({ calm, dir });
    expect([...(await world.findLeftovers()), ...listUnfinished(dir)]).toEqual([]);
  } finally {
    await world.remove();
  }
}, 600_000);

async function expectSameResults({ calm, dir }: { calm: string; dir: string }): Promise<void> {
  const [expected, found] = [await readRecord(calm), await readRecord(dir)];
  expect(found.ledger.finalCount).toBe(found.index.count);
  expect(found.results).toEqual(expected.results);
  expect(readScores(dir)).toEqual(readScores(calm));
  expect(await listRepeatedRows(dir)).toEqual([]);
  const manifest = await requireManifest(dir);
  expect(manifest.results.duplicates).toBe(found.ledger.duplicates);
  expect(found.ledger.duplicates).toBe(0);
  expect(manifest.coverage).toMatchObject({ requests: found.index.count, final: found.index.count, share: 1 });
}

/** Rows that were run in an epoch although an earlier one had their final result. */
async function listRepeatedRows(dir: string): Promise<number[]> {
  const seen = new Set<number>();
  const repeated: number[] = [];
  for (const [, rows] of [...(await listRowsByEpoch(dir))].sort(([a], [b]) => a - b)) {
    repeated.push(...rows.filter((row) => seen.has(row)));
    for (const row of rows) seen.add(row);
  }
  return repeated;
}
