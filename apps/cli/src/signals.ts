// Ctrl-C: the first drains (what is in the engines is finished), the second stops now. SIGTERM and SIGHUP count as
// Ctrl-C. All leave a run that resumes, and all end with 130.

interface Interrupts {
  drain: AbortSignal;
  stop: AbortSignal;
  /** Takes the handlers away again. */
  release(): void;
}

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** `tell` gets one line per signal, for people. */
export function listenForInterrupts(source: NodeJS.EventEmitter, tell: (text: string) => void): Interrupts {
  const drain = new AbortController();
  const stop = new AbortController();
  const onSignal = (signal: string): void => {
    if (!drain.signal.aborted) {
      tell(`${signal}: ending the run; once more stops it at once`);
      drain.abort(signal);
    } else if (!stop.signal.aborted) {
      tell(`${signal}: stopping now`);
      stop.abort(signal);
    }
  };
  for (const signal of SIGNALS) source.on(signal, onSignal);
  return {
    drain: drain.signal,
    stop: stop.signal,
    release: () => { for (const signal of SIGNALS) source.off(signal, onSignal); },
  };
}
