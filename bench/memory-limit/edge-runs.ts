// Runs at the edge of a memory limit: one prompt near the end of the window among short ones, scored as lm_eval scores. At 5 GiB
// the engine says that it is ready and would die of the long one's logits. Lengths and limits near the edge are drawn by a seed.
import { readFileSync, writeFileSync } from 'node:fs';
import { buildRunPaths } from '@assay/store';
import type { AssayWorld, Ended } from '../../test/support/assay-world.ts';
import { createRandom } from '../../test/support/seeded-random.ts';
import { readSetUp } from '../timed-command.ts';

const WINDOW = 8192;
const MIB_PER_GIB = 1024;
/** How far a sum may be from one of a run without a limit: bfloat16, and prompts cut into other chunks. */
export const SUM_TOLERANCE = 0.5;

export interface Drawn {
  /** Tokens of the documents, the long one first. */
  lengths: number[];
  /** Too little for the long prompt in one step; enough with 1,024 batched tokens. */
  tightMib: number;
  tightControlMib: number;
  /** Enough for it. */
  roomyMib: number;
}

export function drawEdge(seed: number): Drawn {
  const random = createRandom(seed);
  const draw = (low: number, high: number) => Math.round(random.between(low, high));
  const drawMib = (low: number, high: number) => draw(low * MIB_PER_GIB, high * MIB_PER_GIB);
  return {
    lengths: [draw(8_000, 8_120), ...Array.from({ length: 5 }, () => draw(20, 200))],
    tightMib: drawMib(4.8, 5.2), tightControlMib: drawMib(4.8, 5.2), roomyMib: drawMib(5.95, 6.4),
  };
}

interface EdgeSettings {
  settings?: Record<string, unknown>;
  modelArgs?: Record<string, unknown>;
  flags?: readonly string[];
}

export interface Rung {
  verdict: string;
  plan: { maxNumBatchedTokens: number };
  failure?: { class: string; where: string; allocationBytes: number };
}

/** " so" is one token: a question of n words has about as many tokens. */
export function writeEdgeTask(world: AssayWorld, lengths: readonly number[]): void {
  const documents = lengths.map((words, number) => JSON.stringify({ question: `${number}${' so'.repeat(words)}`, answer: number % 2 ? ' so' : ' no' }));
  writeFileSync(world.path('data.jsonl'), `${documents.join('\n')}\n`);
  writeFileSync(world.path('edge.yaml'), JSON.stringify({
    task: 'edge', dataset_path: 'json', dataset_kwargs: { data_files: { test: world.path('data.jsonl') } }, test_split: 'test', output_type: 'loglikelihood',
    doc_to_text: '{{question}}', doc_to_target: '{{answer}}', metric_list: [{ metric: 'acc', aggregation: 'mean', higher_is_better: true }],
  }));
}

/** Throws, with what it said, where it does not end well. */
export async function runEdge(world: AssayWorld, command: 'run' | 'probe', name: string, { settings = {}, modelArgs = {}, flags = [] }: EdgeSettings): Promise<Ended> {
  const config = world.writeConfig(`${name}.yaml`, {
    model: 'vllm', model_args: { pretrained: readSetUp().demoModel, dtype: 'bfloat16', max_model_len: WINDOW, enforce_eager: true, ...modelArgs },
    tasks: [world.path('edge.yaml')], ...settings,
  });
  const ended = await world.run([command, '--config', config, '--output_path', world.path(name), ...flags]);
  if (ended.exitCode !== 0) throw new Error(`${name}: exit ${ended.exitCode}\n${ended.stderr}`);
  return ended;
}

/** The run directory of an evaluation. */
export async function evaluateEdge(world: AssayWorld, name: string, settings: Record<string, unknown>): Promise<string> {
  await runEdge(world, 'run', name, { settings });
  return world.path(name);
}

export function readRungs(dir: string): Rung[] {
  return (JSON.parse(readFileSync(buildRunPaths(dir).probe, 'utf8')) as { rungs: Rung[] }).rungs;
}
