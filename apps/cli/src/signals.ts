// Ctrl-C: the first drains (what is in the engines is finished), the second stops now. SIGTERM counts as Ctrl-C, and so does the
// SIGHUP of a terminal that was closed, which may come several times and never counts as the second. All leave a run that resumes,
// and all end with 130.
import type { Surroundings } from './surroundings.ts';

interface Interrupts {
  drain: AbortSignal;
  stop: AbortSignal;
  /** Takes the handlers away again. */
  release(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

interface Telling {
  /** Gets one line per signal, for people. */
  tell(text: string): void;
  /** What the first signal does. */
  firstDoes: string;
}

export function listenForInterrupts(source: NodeJS.EventEmitter, env: Surroundings['env'], { tell, firstDoes }: Telling): Interrupts {
  const drain = new AbortController();
  const stop = new AbortController();
  const onSignal = (signal: string): void => {
    if (!drain.signal.aborted) {
      tell(`${signal}: ${firstDoes}`);
      drain.abort(signal);
    } else if (!stop.signal.aborted && signal !== 'SIGHUP') {
      tell(`${signal}: stopping now`);
      stop.abort(signal);
    }
  };
  const signals = SIGNALS.filter((signal) => signal !== 'SIGHUP' || !isKeptFromHangups(env));
  for (const signal of signals) source.on(signal, onSignal);
  return {
    drain: drain.signal,
    stop: stop.signal,
    release: () => { for (const signal of signals) source.off(signal, onSignal); },
  };
}

/** Started under nohup: Node takes that back before our first line, so the launcher notes it. */
const isKeptFromHangups = (env: Surroundings['env']): boolean => env['ASSAY_NOHUP'] === '1';

/** Goes on where whoever started this process told it to ignore hangups. */
export function keepFromHangups(source: NodeJS.EventEmitter, env: Surroundings['env']): void {
  if (isKeptFromHangups(env)) source.on('SIGHUP', () => undefined);
}
