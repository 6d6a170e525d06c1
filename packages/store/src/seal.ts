// Sealing: the manifest is validated, written last and renamed in. Its presence means that the run is complete.
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { AssayError, describeDamage, redactCommand, redactSecrets, refuseVersion } from '@assay/domain';
import { type Manifest, MANIFEST_SCHEMA_VERSION, type ManifestInput, manifestSchema } from '@assay/protocol';
import { z } from 'zod';
import { writeFileAtomic } from './atomic-file.ts';
import { readRunJson } from './run-json.ts';
import { buildRunPaths, RUN_FILES } from './run-paths.ts';

interface SealedFile {
  sha256: string;
  bytes: number;
}

/** Validates and renames in; returns the digest of the file. A sealed manifest is never rewritten. */
export async function sealManifest(dir: string, manifest: ManifestInput): Promise<string> {
  const path = buildRunPaths(dir).manifest;
  if (await stat(path).catch(() => undefined)) throw new AssayError('BUG', { problem: `${dir} is sealed already` });
  const checked = manifestSchema.safeParse(withoutSecrets(manifest));
  if (!checked.success) {
    throw new AssayError('BUG', { problem: `the manifest is not of its own form: ${z.prettifyError(checked.error).replaceAll('\n', ' ')}` });
  }
  const text = `${JSON.stringify(checked.data, null, 2)}\n`;
  await writeFileAtomic(path, text);
  return createHash('sha256').update(text).digest('hex');
}

/** The manifest of a sealed run, undefined where it is not sealed. Throws RUN_VERSION or RESULTS_DAMAGED. */
export async function readManifest(dir: string): Promise<Manifest | undefined> {
  const path = buildRunPaths(dir).manifest;
  const value = await readRunJson(path);
  if (value === undefined) return undefined;
  const { schema: found, code } = (value ?? {}) as { schema?: unknown; code?: unknown };
  if (found !== MANIFEST_SCHEMA_VERSION) throw refuseVersion(path, { found, known: MANIFEST_SCHEMA_VERSION, writer: nameWriter(code) });
  const checked = manifestSchema.safeParse(value);
  if (checked.success) return checked.data;
  throw describeDamage(path, 1, z.prettifyError(checked.error).replaceAll('\n', ' '));
}

/** Undefined where the manifest does not say. */
function nameWriter(code: unknown): string | undefined {
  const { version, commit } = (code ?? {}) as { version?: unknown; commit?: unknown };
  if (typeof version !== 'string') return undefined;
  return `Assay ${version}${typeof commit === 'string' ? ` (commit ${commit.slice(0, 12)})` : ''}`;
}

/** Digests of all files under one of the run's folders, by their path in the run directory. */
export async function digestFolder(dir: string, folder: 'resultsDir' | 'scoresDir' | 'requestsDir'): Promise<Record<string, SealedFile>> {
  const root = join(dir, RUN_FILES[folder]);
  const entries = await readdir(root, { recursive: true, withFileTypes: true }).catch(() => []);
  const files = entries.filter((entry) => entry.isFile() && !entry.name.endsWith('.tmp')).map((entry) => join(entry.parentPath, entry.name)).sort();
  const digests: Record<string, SealedFile> = {};
  for (const file of files) digests[relative(dir, file)] = { sha256: await digestFile(file), bytes: (await stat(file)).size };
  return digests;
}

/** Only where a secret can have been typed in; prompts and templates stay as they are. */
function withoutSecrets(manifest: ManifestInput): ManifestInput {
  const { engine } = manifest;
  return {
    ...manifest,
    command: redactCommand(manifest.command),
    config: redactSecrets(manifest.config),
    engine: { ...engine, asked: redactSecrets(engine.asked), effective: redactSecrets(engine.effective), environment: redactSecrets(engine.environment) },
    warnings: redactSecrets(manifest.warnings),
  };
}

async function digestFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
