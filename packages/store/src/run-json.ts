// The run's JSON files: written whole and without secrets, for people to read as well, and read back.
import { readFile } from 'node:fs/promises';
import { describeDamage, redactSecrets } from '@assay/domain';
import { writeFileAtomic } from './atomic-file.ts';
import { readIfThere } from './missing-file.ts';

/** `verbatim`: first-level keys that hold no secret and must stay to the letter, since they are compared or have a digest. */
export async function writeRunJson(path: string, value: object, { verbatim = [] }: { verbatim?: readonly string[] } = {}): Promise<void> {
  const plain = JSON.parse(JSON.stringify(value)) as Record<string, unknown>;
  const kept = verbatim.filter((key) => Object.hasOwn(plain, key)).map((key) => [key, plain[key]] as const);
  await writeFileAtomic(path, `${JSON.stringify({ ...redactSecrets(plain), ...Object.fromEntries(kept) }, null, 2)}\n`);
}

/** Reads one of the run's JSON files; undefined where that stage has not been reached. */
export async function readRunJson(path: string): Promise<unknown> {
  const text = await readIfThere(readFile(path, 'utf8'), ['ENOENT', 'ENOTDIR']);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    throw describeDamage(path, 1, 'not JSON');
  }
}
