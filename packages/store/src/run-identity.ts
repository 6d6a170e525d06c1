// identity.json: the run's semantic and numeric identity, one part at a time as each becomes known. A part never changes.
import { AssayError } from '@assay/domain';
import { compareIdentities, formatDifferences, type JsonObject } from './identity.ts';
import type { RunDirectory } from './run-directory.ts';
import { readRunJson, writeRunJson } from './run-json.ts';

/** semantic: what was asked; weights: of which ones, which belongs to it and is known only after the load. numeric: what else decides the bits. */
interface RunIdentity {
  semantic?: JsonObject;
  weights?: JsonObject;
  numeric?: JsonObject;
}

/** Digests and names by task, of which one may look like a secret's: who composes a part leaves secrets out. */
const PARTS = ['semantic', 'weights', 'numeric'] as const satisfies readonly (keyof RunIdentity)[];

export async function readIdentity(run: RunDirectory): Promise<RunIdentity> {
  return ((await readRunJson(run.paths.identity)) ?? {}) as RunIdentity;
}

/** Stores a part that is new; where the run has one, it must equal this one field by field, or RUN_DIFFERS names the fields. */
export async function settleIdentity(run: RunDirectory, part: keyof RunIdentity, now: JsonObject): Promise<void> {
  const stored = await readIdentity(run);
  const was = stored[part];
  if (was === undefined) return writeRunJson(run.paths.identity, { ...stored, [part]: now }, { verbatim: PARTS });
  const differences = compareIdentities(was, JSON.parse(JSON.stringify(now)));
  if (differences.length > 0) {
    throw new AssayError('RUN_DIFFERS', { dir: run.dir, differences: formatDifferences(differences) });
  }
}
