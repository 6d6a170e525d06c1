// What can become of a request, and of an attempt at a shard. A request's final outcomes end it; open ones are run again on resume.

/** `answered`: it carries an answer that a metric can use. */
export const OUTCOMES = {
  ok: { final: true, answered: true, meaning: 'the engine answered' },
  truncated: { final: true, answered: true, meaning: 'answered, but tokens of the context were cut to fit the context window' },
  length: { final: true, answered: true, meaning: 'generation was stopped by its token budget' },
  rejected: { final: true, answered: false, meaning: 'this request alone cannot be run; it is reported and not scored' },
  engine_error: { final: false, answered: false, meaning: 'the engine failed on it; it will be tried again' },
  timed_out: { final: false, answered: false, meaning: 'it took longer than request_timeout; it will be tried again' },
} as const;

/** What can become of an attempt at a shard. `withdrawn`: it was called back, and says nothing about the shard. */
export const ATTEMPT_OUTCOMES = ['done', 'failed', 'withdrawn'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export type Outcome = keyof typeof OUTCOMES;

export const OUTCOME_NAMES = Object.keys(OUTCOMES) as Outcome[];

export function isFinal(outcome: Outcome): boolean {
  return OUTCOMES[outcome].final;
}

export function hasAnswer(outcome: Outcome): boolean {
  return OUTCOMES[outcome].answered;
}
