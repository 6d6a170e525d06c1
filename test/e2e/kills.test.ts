// One kill -9 of each kind in a run on the real vLLM. Batch mates change with a restart, which in `fast` changes the last bits
// of bf16 scores; so `isolated` runs here, where every result must be the calm run's to the last bit.
import { expect, test } from 'vitest';
import { AssayWorld, demoModel } from '../support/assay-world.ts';
import { findChildren, killQuietly } from '../support/process-table.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { findEngine, listUnfinished, readRecord, waitForEvent, waitForNextShard } from '../support/run-record.ts';
import { readScores } from '../support/score-files.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const SETTINGS = {
  model: 'vllm',
  model_args: { pretrained: demoModel, dtype: 'bfloat16', max_model_len: 1024, enforce_eager: true },
  tasks: ['assay_short', 'assay_letters'],
  include_path: `${cloneDir}/tasks`,
  limit: 12,
  determinism: 'isolated',
};

test('a run on the real engine survives the kill of its engine, of Redis and of itself, bit for bit', async () => {
  const world = new AssayWorld();
  try {
    const config = world.writeConfig('run.yaml', SETTINGS);
    const [calm, dir] = [world.path('calm'), world.path('disturbed')];
    const reference = await world.run(['run', '--config', config, '--output_path', calm]);
    expect(reference, reference.stderr).toMatchObject({ exitCode: 0 });

    const command = ['run', '--config', config, '--plan', 'data=1', '--output_path', dir];
    const run = world.start(command);
    await waitForEvent(run, dir, 'shard_done');
    killQuietly((await findEngine(dir)) as number, 'SIGKILL');
    await waitForNextShard(run, dir);
    const [redis] = findChildren(run.pid, 'redis-server');
    killQuietly(redis as number, 'SIGKILL');
    await waitForNextShard(run, dir);
    run.kill('SIGKILL');
    expect(await run.ended).toMatchObject({ signal: 'SIGKILL' });
    const before = (await readRecord(dir)).ledger;

    const resumed = await world.run(command);
    expect(resumed, resumed.stderr).toMatchObject({ exitCode: 0 });
    const [expected, found] = [await readRecord(calm), await readRecord(dir)];
    console.log(`3 kills (1 engine, 1 Redis, 1 assay run) in 2 starts; ${found.index.count} requests, ${before.finalCount} final before the last start,`
      + ` ${found.ledger.finalCount} after it, ${found.ledger.duplicates} duplicates`);
    expect(before.finalCount).toBeLessThan(found.index.count);
    expect({ final: found.ledger.finalCount, duplicates: found.ledger.duplicates }).toEqual({ final: found.index.count, duplicates: 0 });
    expect(found.results).toEqual(expected.results);
    expect(readScores(dir)).toEqual(readScores(calm));
    expect([...(await world.findLeftovers()), ...listUnfinished(dir)]).toEqual([]);
  } finally {
    await world.remove();
  }
});
