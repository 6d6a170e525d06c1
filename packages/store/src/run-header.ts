// run.json: which run a directory holds and the schema it was written in. Written once, before anything else, never changed.
import { describeDamage, refuseVersion } from '@assay/domain';
import { z } from 'zod';
import { readRunJson, writeRunJson } from './run-json.ts';
import { buildRunPaths } from './run-paths.ts';

/** Raised when a file of the run directory other than the manifest changes its form. */
export const RUN_SCHEMA_VERSION = 2;

const runHeaderSchema = z.strictObject({
  schema: z.literal(RUN_SCHEMA_VERSION),
  /** Letters, digits, "-" and "T" only: it becomes part of the names of the queue and of what is in it. */
  id: z.string().regex(/^[A-Za-z0-9-]+$/),
  createdAt: z.iso.datetime(),
  model: z.string(),
  settingsDigest: z.string(),
  /** Those of the configuration that belong to the run, without secrets. */
  settings: z.record(z.string(), z.unknown()),
});
export type RunHeader = z.output<typeof runHeaderSchema>;

/** The header, or undefined where `dir` is no run directory. Throws RUN_VERSION, or RESULTS_DAMAGED. */
export async function readRunHeader(dir: string): Promise<RunHeader | undefined> {
  const path = buildRunPaths(dir).header;
  const header = await readRunJson(path);
  if (header === undefined) return undefined;
  const version = z.object({ schema: z.unknown() }).safeParse(header);
  if (version.success && version.data.schema !== RUN_SCHEMA_VERSION) {
    throw refuseVersion(dir, { found: version.data.schema, known: RUN_SCHEMA_VERSION });
  }
  const parsed = runHeaderSchema.safeParse(header);
  if (parsed.success) return parsed.data;
  throw describeDamage(path, 1, z.prettifyError(parsed.error).replaceAll('\n', ' '));
}

export async function writeRunHeader(dir: string, header: RunHeader): Promise<void> {
  await writeRunJson(buildRunPaths(dir).header, header, { verbatim: ['model'] });
}
