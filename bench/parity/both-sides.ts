// The same tasks through Assay and through lm_eval's simple_evaluate with its vLLM backend, float32, one after the other, compared.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSetUp, runTimed } from '../timed-command.ts';

export interface ParityInput {
  tasks: readonly string[];
  /** A folder with the tasks' files. */
  includePath: string;
  /** Documents of each task, or by name which ones. */
  limit?: number;
  samples?: Readonly<Record<string, readonly number[]>>;
  /** Where both sides write. */
  folder: string;
}

/** As compare.py counts. `problems` are what fails the comparison. */
export interface Parity {
  requests: number;
  same_tokens: number;
  generations: number;
  max_delta: number;
  texts: string[];
  samples: number;
  same_samples: number;
  metrics: number;
  same_metrics: number;
  problems: string[];
}

export interface BothSides {
  parity: Parity;
  /** For people; its last line has the figures. */
  report: string;
  assaySeconds: number;
  peerSeconds: number;
}

const DTYPE = 'float32';
const MAX_MODEL_LEN = 4096;

export async function runBothSides({ tasks, includePath, limit, samples, folder }: ParityInput): Promise<BothSides> {
  const { python, demoModel } = readSetUp();
  const [runDir, peerFile, reportFile] = ['assay', 'peer.json', 'report.json'].map((name) => join(folder, name)) as [string, string, string];
  const selected = [
    '--tasks', tasks.join(','), '--include_path', includePath,
    ...(limit === undefined ? [] : ['--limit', String(limit)]), ...(samples === undefined ? [] : ['--samples', JSON.stringify(samples)]),
  ];
  const modelArgs = `pretrained=${demoModel},dtype=${DTYPE},max_model_len=${MAX_MODEL_LEN},enforce_eager=True`;
  const assay = await runTimed('./assay', ['run', ...selected, '--model_args', modelArgs, '--probe', 'false', '--output_path', runDir]);
  const peer = await runTimed(python, [
    'bench/parity/peer.py', ...selected, '--model', demoModel, '--dtype', DTYPE, '--max_model_len', String(MAX_MODEL_LEN), '--out', peerFile,
  ]);
  const { stdout } = await runTimed(python, ['bench/parity/compare.py', runDir, peerFile, '--json', reportFile], { exitCodes: [0, 1] });
  return { parity: JSON.parse(readFileSync(reportFile, 'utf8')) as Parity, report: stdout.trimEnd(), assaySeconds: assay.seconds, peerSeconds: peer.seconds };
}
