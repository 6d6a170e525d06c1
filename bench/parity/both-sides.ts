// The same tasks through Assay and through lm_eval's simple_evaluate with its vLLM backend, float32, compared.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSetUp, runTimed, type TimedCommand } from '../timed-command.ts';

export interface ParityInput {
  tasks: readonly string[];
  /** A folder with the tasks' files. */
  includePath: string;
  /** Documents of each task, or by name which ones. */
  limit?: number;
  samples?: Readonly<Record<string, readonly number[]>>;
  /** Where both sides write. */
  folder: string;
  /** A core for each side, at the same time; without it all cores for one side after the other, which their times are compared by. */
  cores?: readonly [number, number];
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

export async function runBothSides({ tasks, includePath, limit, samples, folder, cores }: ParityInput): Promise<BothSides> {
  const { python, demoModel } = readSetUp();
  const [runDir, peerFile, reportFile] = ['assay', 'peer.json', 'report.json'].map((name) => join(folder, name)) as [string, string, string];
  const selected = [
    '--tasks', tasks.join(','), '--include_path', includePath,
    ...(limit === undefined ? [] : ['--limit', String(limit)]), ...(samples === undefined ? [] : ['--samples', JSON.stringify(samples)]),
  ];
  const modelArgs = `pretrained=${demoModel},dtype=${DTYPE},max_model_len=${MAX_MODEL_LEN},enforce_eager=True`;
  const sides = [
    ['./assay', 'run', ...selected, '--model_args', modelArgs, '--probe', 'false', '--output_path', runDir],
    [python, 'bench/parity/peer.py', ...selected, '--model', demoModel, '--dtype', DTYPE, '--max_model_len', String(MAX_MODEL_LEN), '--out', peerFile],
  ] as const;
  const [assay, peer] = cores ? await runTogether(sides, cores) : [await runSide(sides[0]), await runSide(sides[1])];
  const { stdout } = await runTimed(python, ['bench/parity/compare.py', runDir, peerFile, '--json', reportFile], { exitCodes: [0, 1] });
  return { parity: JSON.parse(readFileSync(reportFile, 'utf8')) as Parity, report: stdout.trimEnd(), assaySeconds: assay.seconds, peerSeconds: peer.seconds };
}

type Side = readonly [string, ...string[]];

function runSide([program, ...args]: Side, env: Record<string, string> = {}): Promise<TimedCommand> {
  return runTimed(program, args, { env });
}

/** The engine would bind itself to the first core of all, on which it then waits for itself; the affinity it is given suffices. */
function runTogether(sides: readonly [Side, Side], cores: readonly [number, number]): Promise<[TimedCommand, TimedCommand]> {
  const run = (place: 0 | 1) => runSide(['taskset', '-c', String(cores[place]), ...sides[place]], { OMP_NUM_THREADS: '1', VLLM_CPU_OMP_THREADS_BIND: 'nobind' });
  return Promise.all([run(0), run(1)]);
}
