import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'vitest';
import { python } from '../../../test/support/environment.ts';
import { isAlive } from '../../../test/support/process-table.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { waitUntil } from '../../../test/support/wait-until.ts';
import { spawnServer } from './spawn-server.ts';

test('a server that is killed takes its children with it', async () => {
  const logFile = join(makeTempDir(), 'server.log');
  const server = spawnServer({ python, command: ['sh', '-c', 'sleep 300 & echo $!; wait'], logFile });
  const child = await waitUntil('the child', () => Number(readFileSync(logFile, 'utf8')) || undefined);
  server.kill('SIGKILL');
  await server.exited;
  await waitUntil('its end', () => !isAlive(child));
});
