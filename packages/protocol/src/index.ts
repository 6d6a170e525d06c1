// Everything that crosses a process: messages, results, the request files.
export type { Effective, Rank } from './effective.ts';
export { type EngineCommand, engineCommandSchema, type Heartbeat, type Loaded, type Probed, type ProbeStep, type ResultsMessage, type ShardDone } from './engine-messages.ts';
export { type Failure, FAILURE_CLASSES, type FailureClass, failureSchema } from './failure.ts';
export { type Aggregated, type AnswerTally, type HarnessCommand, harnessCommandSchema, type MetricRow, type Rendered, type Scored } from './harness-messages.ts';
export { type Manifest, MANIFEST_SCHEMA_VERSION, type ManifestInput, manifestSchema } from './manifest.ts';
export type { Coverage } from './manifest-sections.ts';
export { PROTOCOL_VERSION, type WorkerEvent, workerEventSchema, type WorkerReply } from './messages.ts';
export { encodeLine, LineSplitter, type WireFloat } from './ndjson.ts';
export { INDEX_COLUMNS, INDEX_MAGIC, INDEX_VERSION, type IndexColumn, parseRequestIndex, type RequestIndex, requestShapeAt } from './request-index.ts';
export { type Result, resultSchema } from './result.ts';
export { type ShardAttempt, shardAttemptSchema } from './shard-attempt.ts';
