// All of the shared tasks on both sides; about an hour on two cores. Exit 1 where the sides differ.
// Usage: node bench/parity/run.ts [DOCUMENTS A TASK] [FOLDER TO KEEP THE FILES IN]
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cloneDir } from '../timed-command.ts';
import { runBothSides } from './both-sides.ts';

const includePath = join(cloneDir, '..', 'shared', 'data', 'tasks');
if (!existsSync(includePath)) throw new Error('needs ../shared/data beside the clone');
const tasks = readdirSync(includePath).map((name) => name.replace(/\.yaml$/, '')).filter((name) => /^(m|c)_|^g_gsm8k$/.test(name)).toSorted();
const [limit, kept] = [process.argv[2], process.argv[3]];
const folder = kept ?? mkdtempSync(join(tmpdir(), 'assay-parity-'));
mkdirSync(folder, { recursive: true });
try {
  const { parity, report, assaySeconds, peerSeconds } = await runBothSides({ tasks, includePath, folder, ...(limit === undefined ? {} : { limit: Number(limit) }) });
  console.log(`parity tasks=${tasks.length} assay_seconds=${assaySeconds.toFixed(0)} lm_eval_seconds=${peerSeconds.toFixed(0)}\n${report}`);
  process.exitCode = parity.problems.length === 0 ? 0 : 1;
} finally {
  if (kept === undefined) rmSync(folder, { recursive: true, force: true });
}
