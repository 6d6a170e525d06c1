// From command to first engine step: Assay and lm_eval's own command on the same task and model, alternating. Prints a line a
// round and one with the medians and their ratio (below 1: Assay is first). Usage: node bench/first-step/run.ts [ROUNDS]
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildRunPaths, readEvents } from '@assay/store';
import { readSetUp, runTimed } from '../timed-command.ts';

const rounds = Number(process.argv[2] ?? 3);
const { python, demoModel } = readSetUp();
const folder = await mkdtemp(join(tmpdir(), 'assay-first-step-'));

// Eager on both sides: compiling would cost the peer another minute.
const model = `pretrained=${demoModel},dtype=bfloat16,max_model_len=4096,enforce_eager=True`;
const shared = ['run', '--model', 'vllm', '--model_args', model, '--tasks', 'assay_letters', '--include_path', 'tasks', '--limit', '4', '--batch_size', 'auto'];

/** Its first step is that of a request, after the probe's dummy steps. */
async function timeAssay(round: number): Promise<number> {
  const dir = join(folder, `run-${round}`);
  const { startedAt } = await runTimed('./assay', [...shared, '--output_path', dir]);
  const { events } = await readEvents(buildRunPaths(dir).events);
  const phase = events.find((event) => event.type === 'request_phase');
  if (!phase) throw new Error(`${dir} has no request phase`);
  return phase.firstStepAt - startedAt;
}

async function timePeer(): Promise<number> {
  const { startedAt, stdout } = await runTimed(python, ['bench/first-step/first_request.py', ...shared], { env: { VLLM_CPU_KVCACHE_SPACE: '2' } });
  const at = /^first_request_at=(\S+)$/m.exec(stdout)?.[1];
  if (at === undefined) throw new Error('the peer ended before its first request');
  return Number(at) - startedAt;
}

const median = (values: readonly number[]) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] as number;

const seconds: { assay: number[]; peer: number[] } = { assay: [], peer: [] };
try {
  for (let round = 0; round < rounds; round += 1) {
    // The first of a pair warms the file cache for the other, so they take turns.
    const turns = [async () => seconds.assay.push(await timeAssay(round)), async () => seconds.peer.push(await timePeer())];
    for (const turn of round % 2 === 0 ? turns : turns.toReversed()) await turn();
    console.log(`first-step round=${round + 1} assay_seconds=${seconds.assay.at(-1)?.toFixed(1)} lm_eval_seconds=${seconds.peer.at(-1)?.toFixed(1)}`);
  }
  const [assay, peer] = [median(seconds.assay), median(seconds.peer)];
  console.log(`first-step rounds=${rounds} assay_seconds=${assay.toFixed(1)} lm_eval_seconds=${peer.toFixed(1)} ratio=${(assay / peer).toFixed(2)}`);
  if (assay > peer) process.exitCode = 1;
} finally {
  await rm(folder, { recursive: true, force: true });
}
