// One replica of two fails: it is named, with its own log, and what a fresh process does not meet again costs that process alone.
import { readFileSync } from 'node:fs';
import { demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { requireManifest } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const PLAN = { plan: { data: 2 } };

interface Failed { error: { code: string; details: { worker: string; log: string } } }

testInWorld('a replica that cannot load is named, with its cores and the log that tells why', async (world, { expect }) => {
  const { command } = prepareSimulated(world, { settings: PLAN, faults: [{ at: 'load', do: 'raise', text: 'no kernel for this shape', marker: world.path('struck') }] });
  const run = await world.run([...command, '--json']);
  expect(run.exitCode, run.stderr).toBe(4);
  const { error } = JSON.parse(run.stdout) as Failed;
  expect(error.code).toBe('ENGINE_LOAD');
  const [, name] = /^(engine-[01]) on core \d+$/.exec(error.details.worker) ?? [];
  expect(error.details.log).toMatch(new RegExp(`/${name}\\.log$`));
  // The other one's log has no word of it.
  expect(readFileSync(error.details.log, 'utf8')).toContain('no kernel for this shape');
  expect(run.stderr).toMatch(new RegExp(`assay: ${name} on core \\d+ cannot load the model \\(unknown\\): RuntimeError: no kernel for this shape\\n.* The log is ${error.details.log}\\.`));
});

testInWorld('a port that was taken costs a replica its process and the run nothing', async (world, { expect }) => {
  const text = 'DistNetworkError: The server socket has failed to listen on any local network address. code: -98, name: EADDRINUSE, message: address already in use';
  const { dir, command } = prepareSimulated(world, { settings: PLAN, faults: [{ at: 'load', do: 'raise', text, marker: world.path('struck') }] });
  const run = await world.run(command);
  expect(run.exitCode, run.stderr).toBe(0);
  expect(run.stderr).toMatch(/engine-[01] could not load \(.*EADDRINUSE.*\) and is started again/);
  const { coverage, workers, probe } = await requireManifest(dir);
  expect(coverage.share).toBe(1);
  expect(workers.filter(({ role }) => role === 'engine')).toHaveLength(3);
  expect(probe.rungs.map(({ verdict }) => verdict)).toEqual(['fits']);
});
