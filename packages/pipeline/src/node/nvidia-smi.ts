// Asks nvidia-smi. A driver in trouble makes it fail, print anything, or hang for ever; each of these is an answer here, and
// none is waited for beyond its time.
import { execFile } from 'node:child_process';
import { describeTooManyFiles } from '@assay/domain';

export interface SmiOptions {
  /** Its PATH says which nvidia-smi is asked. */
  env: Readonly<Record<string, string | undefined>>;
  timeoutMs: number;
}

/** What it printed; `absent` where no such program is installed; `broken` with the reason in words. */
export type SmiAnswer = { kind: 'text'; text: string } | { kind: 'absent' } | { kind: 'broken'; why: string };

const MAX_OUTPUT_BYTES = 32e6;

/** Throws TOO_MANY_FILES: that says nothing about the GPUs. */
export function askNvidiaSmi(args: readonly string[], { env, timeoutMs }: SmiOptions): Promise<SmiAnswer> {
  return new Promise((resolve, reject) => {
    const child = execFile('nvidia-smi', args, { env: { ...env }, maxBuffer: MAX_OUTPUT_BYTES }, (error, stdout, stderr) => {
      clearTimeout(deadline);
      if (!error) return resolve({ kind: 'text', text: stdout });
      const tooMany = describeTooManyFiles(error);
      if (tooMany) return reject(tooMany);
      resolve(error.code === 'ENOENT' ? { kind: 'absent' } : { kind: 'broken', why: explainFailure(error, `${stdout}\n${stderr}`) });
    });
    // A process that waits for a dead device cannot be killed, so its end is not waited for either.
    const deadline = setTimeout(() => {
      child.kill('SIGKILL');
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.unref();
      resolve({ kind: 'broken', why: `nvidia-smi did not answer within ${timeoutMs / 1000} s` });
    }, timeoutMs);
  });
}

/** nvidia-smi explains itself on stdout, as often as on stderr. */
function explainFailure(error: { code?: unknown; signal?: unknown; message: string }, output: string): string {
  const said = output.split('\n').map((line) => line.trim()).find((line) => line !== '');
  const end = typeof error.code === 'number' ? `ended with exit code ${error.code}` : `failed (${String(error.code ?? error.signal ?? error.message)})`;
  return `nvidia-smi ${end}${said ? `: ${said}` : ''}`;
}
