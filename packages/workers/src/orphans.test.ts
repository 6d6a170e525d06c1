import { randomUUID } from 'node:crypto';
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { python } from '../../../test/support/environment.ts';
import { findProcesses } from '../../../test/support/process-table.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';

const PARENT = fileURLToPath(new URL('./testing/parent.ts', import.meta.url));

test.each(['SIGKILL', 'SIGTERM'] as const)('a parent that gets %s leaves no worker and no server behind', async (signal) => {
  const mark = `ASSAY_TEST_MARK=${randomUUID()}`;
  const [key, value] = mark.split('=') as [string, string];
  const parent = spawn(process.execPath, [PARENT, python, makeTempDir()], { env: { ...process.env, [key]: value }, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => { parent.kill('SIGKILL'); });
  let said = '';
  parent.stdout.on('data', (chunk) => { said += chunk; });
  await waitUntil('the children', () => said.includes('ready'));
  expect(findProcesses(mark)).toHaveLength(3);
  parent.kill(signal);
  await waitUntil('their end', () => findProcesses(mark).length === 0);
});
