// A run of fewer requests than workers: the engines start before the requests are known, and those that would have none end unused.
import { demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { listEvents, requireManifest } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

testInWorld('one request is answered by one worker, whatever was asked for, and that one is not started twice', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { settings: { determinism: 'strict', plan: { data: 2 }, limit: 1 } });
  const ended = await world.run(command);
  expect(ended, ended.stderr).toMatchObject({ exitCode: 0 });
  expect(ended.stderr).toContain('data=1 in place of 2: the run has 1 request, and a further replica would have none');
  const events = await listEvents(dir);
  const started = events.flatMap((event) => (event.type === 'worker_started' && event.role === 'engine' ? [event.worker] : []));
  expect(started).toEqual(['engine-0', 'engine-1']);
  expect(events.flatMap((event) => (event.type === 'shard_started' ? [event.worker] : []))).toEqual(['engine-0']);
  expect((await requireManifest(dir)).plan).toMatchObject({ data: 1 });
});
