// manifest.json: what a run was, so that its scores can be reproduced or explained. Written last, once, and never rewritten.
// docs/manifest.schema.json is generated from here.
import { z } from 'zod';
import { count, mapping, nullable, seconds, sha256 } from './fields.ts';
import { metricRowSchema } from './harness-messages.ts';
import {
  codeSchema, coverageSchema, deviceSchema, engineSchema, harnessSchema, modelSchema, orderSchema, outcomesSchema, planSchema, probeRungSchema,
  promptsSchema, resultsSchema, rungTakenSchema, sealedFilesSchema, taskSchema, workerSchema,
} from './manifest-sections.ts';

/** Raised when the form changes: a field more is one, too. Readers refuse another number by name. */
export const MANIFEST_SCHEMA_VERSION = 2;

const identitySchema = z.strictObject({ digest: sha256, fields: mapping });

export const manifestSchema = z.strictObject({
  schema: z.literal(MANIFEST_SCHEMA_VERSION),
  run: z.strictObject({ id: z.string(), createdAt: z.iso.datetime(), sealedAt: z.iso.datetime(), epochs: z.int().positive().describe('starts of the run') }),
  code: codeSchema,
  command: z.array(z.string()).describe('of the last start, without secrets'),
  config: mapping.describe('the composed configuration, without secrets'),
  determinism: z.enum(['fast', 'strict', 'isolated']),
  scoring: z.enum(['exact', 'fast']),
  harness: harnessSchema,
  tasks: z.array(taskSchema),
  groups: mapping,
  prompts: promptsSchema,
  seeds: z.record(z.string(), z.strictObject({ value: nullable(z.union([z.int(), z.string()])), appliedTo: z.array(z.string()) })),
  model: modelSchema,
  engine: engineSchema,
  device: deviceSchema,
  plan: planSchema,
  probe: z.strictObject({ seconds, rungs: z.array(probeRungSchema).describe('every rung tried, in order') }),
  rungs: z.array(rungTakenSchema).describe('rungs taken, by a probe or in mid-run'),
  order: z.array(orderSchema).describe('one for each epoch'),
  batch: z.strictObject({ medianRunning: nullable(z.number().nonnegative()), maxRunning: nullable(count) }).describe('running sequences a step, as observed'),
  timings: z.strictObject({
    requestPhaseSeconds: seconds.describe('first request to last result, summed over the epochs'),
    wallSeconds: seconds,
    stages: z.record(z.string(), seconds),
  }),
  idle: z.strictObject({
    wallSeconds: seconds,
    computingSeconds: seconds,
    causes: z.record(z.string(), seconds).describe('seconds in which no engine worker was computing'),
    share: z.number().min(0).max(1),
  }),
  tokens: z.strictObject({ prompt: count, cached: count, new: count }),
  outcomes: outcomesSchema,
  coverage: coverageSchema,
  scores: z.strictObject({ rows: z.array(metricRowSchema), files: sealedFilesSchema }),
  requestFiles: sealedFilesSchema,
  results: resultsSchema,
  identity: z.strictObject({ semantic: identitySchema, numeric: identitySchema }),
  workers: z.array(workerSchema),
  waivers: z.array(z.strictObject({ what: z.string(), details: mapping })),
  warnings: z.array(z.strictObject({ code: z.string(), message: z.string() })),
});

export type ManifestInput = z.input<typeof manifestSchema>;
export type Manifest = z.output<typeof manifestSchema>;

/** The published form, for readers in any language. */
export function buildManifestJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(manifestSchema, { target: 'draft-2020-12' });
  return { ...schema, title: 'Assay manifest', description: `manifest.json of a sealed run, schema version ${MANIFEST_SCHEMA_VERSION}` };
}
