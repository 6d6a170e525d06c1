// The closed union of everything a worker may say.
import { z } from 'zod';
import { failedSchema, heartbeatSchema, helloSchema, loadedSchema, probedSchema, resultsSchema, shardDoneSchema } from './engine-messages.ts';
import { aggregatedSchema, renderedSchema, scoredSchema } from './harness-messages.ts';

/** Raised when a message's meaning changes. Both sides refuse another number. */
export const PROTOCOL_VERSION = 1;

export const workerEventSchema = z.discriminatedUnion('type', [
  helloSchema, heartbeatSchema, loadedSchema, probedSchema, resultsSchema, shardDoneSchema, failedSchema,
  renderedSchema, scoredSchema, aggregatedSchema,
]);
export type WorkerEvent = z.output<typeof workerEventSchema>;
export type WorkerReply = Extract<WorkerEvent, { id: number }>;
