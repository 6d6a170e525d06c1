// A secret among the arguments of a run stands in nothing that the run writes or says.
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { demoModel } from '../support/assay-world.ts';
import { requireOrSkip } from '../support/requirements.ts';
import { requireManifest } from '../support/run-record.ts';
import { prepareSimulated } from '../support/simulated-run.ts';
import { testInWorld } from '../support/test-in-world.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

/** One that is known by its form, and two by their key alone. */
const SECRETS = ['hf_secretvalue1234567890', 'plain-value-of-a-key', 'plain-value-of-a-service'];
const SECRET = { engine: { hf_token: SECRETS[0], api_key: SECRETS[1] }, settings: { limit: 4, metadata: { service: { password: SECRETS[2] } } } };

function findSecrets(name: string, content: string | Buffer): string[] {
  return SECRETS.filter((secret) => content.includes(secret)).map((secret) => `${secret} in ${name}`);
}

function searchFolder(dir: string): string[] {
  const files = readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) => statSync(join(dir, name)).isFile());
  return files.flatMap((name) => findSecrets(name, readFileSync(join(dir, name))));
}

testInWorld('no file of a run and none of its output holds a secret', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, SECRET);
  const run = await world.run([...command, '--json']);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  expect([...searchFolder(dir), ...findSecrets('stdout', run.stdout), ...findSecrets('stderr', run.stderr)]).toEqual([]);
  const { engine } = await requireManifest(dir);
  expect(engine.asked).toMatchObject({ hf_token: '[redacted]' });
});

testInWorld('a load that fails with a secret in its message shows and records none', async (world, { expect }) => {
  const { dir, command } = prepareSimulated(world, { ...SECRET, faults: [{ at: 'load', do: 'raise', text: `refused: token=${SECRETS[1]} for ${SECRETS[0]}` }] });
  const run = await world.run([...command, '--json']);
  expect(run, run.stderr).toMatchObject({ exitCode: expect.toSatisfy((code: number) => code !== 0) });
  expect(run.stdout).toContain('[redacted]');
  expect([...searchFolder(dir), ...findSecrets('stdout', run.stdout), ...findSecrets('stderr', run.stderr)]).toEqual([]);
});

testInWorld('a plan as JSON holds the settings without secrets', async (world, { expect }) => {
  const { config } = prepareSimulated(world, SECRET);
  const run = await world.run(['plan', '--config', config, '--json']);
  expect(run, run.stderr).toMatchObject({ exitCode: 0 });
  expect(JSON.parse(run.stdout)).toMatchObject({ config: { model_args: { hf_token: '[redacted]' }, metadata: { service: { password: '[redacted]' } } } });
  expect([...findSecrets('stdout', run.stdout), ...findSecrets('stderr', run.stderr)]).toEqual([]);
});
