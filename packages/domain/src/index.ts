// The nouns of the system and the tables everything else obeys.
export { formatBytes, GIB, KIB, MIB, parseBytes } from './bytes.ts';
export { type ConfigKey, describeFormAt, listConfigKeys } from './config-forms.ts';
export { type Determinism, effectiveDeterminism, type PlanRequest, type RunConfig, runConfigSchema } from './config.ts';
export { describeDamage } from './damage.ts';
export { AssayError, type ErrorCode, ERRORS, EXIT_CODES } from './errors.ts';
export { type AttemptKey, buildShardId, formatAttempt, parseAttempt, type ShardId } from './ids.ts';
export type { Log } from './log.ts';
export { describeFileError, describeTooManyFiles, toAssayError } from './thrown.ts';
export { refuseVersion } from './versions.ts';
export { findNearest, findNearPaths, suggestNearest } from './nearest.ts';
export { ATTEMPT_OUTCOMES, type AttemptOutcome, hasAnswer, isFinal, type Outcome, OUTCOME_NAMES, OUTCOMES } from './outcomes.ts';
export type { PlanLayout } from './plan-layout.ts';
export { parseProcessStat } from './process-stat.ts';
export { REQUEST_KINDS, type RequestKind, type RequestShape } from './requests.ts';
export { redactCommand, redactSecrets, redactText } from './secrets.ts';
export {
  canMove, isEndState, isResumable, isWorking, moveState, RUN_STATES, type RunState, SHARD_STATES, type ShardState, STATE_TABLES, WORKER_STATES, type WorkerState,
} from './states.ts';
export type { TimeBound, TimeEstimate } from './time-estimate.ts';
