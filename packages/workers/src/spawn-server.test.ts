import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { python } from '../../../test/support/environment.ts';
import { findProcesses } from '../../../test/support/process-table.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { spawnServer } from './spawn-server.ts';

test('a server that is killed takes its children with it', async () => {
  const mark = `ASSAY_TEST_MARK=${randomUUID()}`;
  const script = `${mark} sh -c 'sleep 300; true' & ${mark} sh -c 'sleep 300; true'; wait`;
  const server = spawnServer({ python, command: ['sh', '-c', script], logFile: join(makeTempDir(), 'server.log') });
  await waitUntil('the children', () => findProcesses(mark).length === 4);
  server.kill('SIGKILL');
  await server.exited;
  await waitUntil('their end', () => findProcesses(mark).length === 0);
});
