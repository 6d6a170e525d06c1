// A parent to be killed: starts a worker that hangs and a server that sleeps. Usage: parent.ts PYTHON DIR
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { spawnServer } from '../spawn-server.ts';
import { spawnWorker } from '../spawn-worker.ts';

const [python = '', dir = ''] = process.argv.slice(2);
const programs = fileURLToPath(new URL('../../test-programs', import.meta.url));
const log = { debug: () => undefined, info: () => undefined, warn: () => undefined };
spawnServer({ python, command: [python, '-c', 'import time; time.sleep(300)'], logFile: join(dir, 'server.log') });
const worker = spawnWorker({
  role: 'engine', name: 'hangs', python, pythonPath: programs, program: [join(programs, 'hangs.py')], logFile: join(dir, 'worker.log'), log,
});
await worker.hello;
process.stdout.write('ready\n');
