// The memory check of bench/memory on a GPU: device memory as the engine allocates it, each setting predicted with what the
// others have shown.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { readNodeFacts } from '@assay/pipeline';
import { expect, test } from 'vitest';
import { demoModel } from '../support/assay-world.ts';
import { cloneDir } from '../support/requirements.ts';

const { gpus } = await readNodeFacts(process.env);
const reason = gpus.length === 0 ? 'needs a GPU: nvidia-smi lists none' : demoModel === undefined ? 'needs the set-up with an engine for this GPU' : undefined;

test('on a GPU every setting is predicted within a tenth by what the others have shown', async (context) => {
  if (reason) context.skip(reason);
  const { stdout } = await promisify(execFile)(process.execPath, ['bench/memory/run.ts'], { cwd: cloneDir, timeout: 800_000 });
  const [, settings, corrected] = /^memory settings=(\d+) raw_worst=[\d.]+% corrected_worst=([\d.]+)%$/m.exec(stdout) ?? [];
  expect(Number(settings), stdout).toBeGreaterThanOrEqual(8);
  expect(Number(corrected)).toBeLessThanOrEqual(10);
}, 900_000);
