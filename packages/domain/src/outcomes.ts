// What can become of a request, and of an attempt at a shard. A request's final outcomes end it; open ones are run again on resume.

export const OUTCOMES = {
  ok: { final: true, meaning: 'the engine answered' },
  truncated: { final: true, meaning: 'answered, but tokens of the context were cut to fit the context window' },
  length: { final: true, meaning: 'generation was stopped by its token budget' },
  rejected: { final: true, meaning: 'this request alone cannot be run; it is reported and not scored' },
  engine_error: { final: false, meaning: 'the engine failed on it; it will be tried again' },
  timed_out: { final: false, meaning: 'it took longer than request_timeout; it will be tried again' },
} as const;

/** What can become of an attempt at a shard. `withdrawn`: it was called back, and says nothing about the shard. */
export const ATTEMPT_OUTCOMES = ['done', 'failed', 'withdrawn'] as const;
export type AttemptOutcome = (typeof ATTEMPT_OUTCOMES)[number];

export type Outcome = keyof typeof OUTCOMES;

export const OUTCOME_NAMES = Object.keys(OUTCOMES) as Outcome[];

export function isFinal(outcome: Outcome): boolean {
  return OUTCOMES[outcome].final;
}

/** True where the outcome carries an answer that a metric can use. */
export function hasAnswer(outcome: Outcome): boolean {
  return isFinal(outcome) && outcome !== 'rejected';
}
