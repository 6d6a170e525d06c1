// What run, plan and probe share once the configuration is composed: the view on stderr, the signals, the pipeline's input.
import { redactCommand } from '@assay/domain';
import type { RunInput } from '@assay/pipeline';
import type { Composed } from '../config/compose.ts';
import { ProgressView, type ProgressViewOptions } from '../progress-view.ts';
import { listenForInterrupts } from '../signals.ts';
import type { Surroundings } from '../surroundings.ts';

interface Evaluation<Output> {
  outcome: NonNullable<ProgressViewOptions['outcome']>;
  work(input: RunInput): Promise<Output>;
}

// Only a run has something in its engines to finish.
const FIRST_SIGNAL = { scores: 'ending the run; once more stops it at once', plan: 'stopping', probe: 'stopping' } as const;

/** Calls `work` with the pipeline's input; whatever happens, the terminal is left whole and the signals are given back. */
export async function startEvaluation<Output>({ config, notes }: Composed, around: Surroundings, { outcome, work }: Evaluation<Output>): Promise<Output> {
  const { argv, cwd, env, stderr } = around;
  const ui = new ProgressView({ sink: stderr, now: Date.now, unicode: speaksUnicode(env), outcome });
  for (const note of notes) ui.onNote(`note: ${note}`);
  const { drain, stop, release } = listenForInterrupts(process, env, { tell: (text) => ui.onNote(text), firstDoes: FIRST_SIGNAL[outcome] });
  try {
    return await work({ config, command: redactCommand(['assay', ...argv]), cwd, env, signals: { drain, stop }, ui });
  } finally {
    release();
    ui.end();
  }
}

const speaksUnicode = (env: Surroundings['env']): boolean => /utf-?8/i.test(env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '');
