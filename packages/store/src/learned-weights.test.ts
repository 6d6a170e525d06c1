import { rename, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { nameWeights } from './learned-weights.ts';

async function makeModel(text: string) {
  const folder = makeTempDir();
  await writeFile(join(folder, 'model.safetensors'), text);
  return folder;
}

/** As an engine worker leaves it. */
async function noteDigest(home: string, folder: string, digest: string) {
  const path = join(folder, 'model.safetensors');
  const { size, mtimeNs, ino } = await stat(path, { bigint: true });
  await writeFile(join(home, 'weight-digests.json'), JSON.stringify({ [`${path}:${size}:${mtimeNs}:${ino}`]: digest }));
}

test('weights that were hashed have one name wherever they lie', async () => {
  const home = makeTempDir();
  const names: (string | undefined)[] = [];
  for (const folder of [await makeModel('abc'), await makeModel('abc')]) {
    await noteDigest(home, folder, 'd'.repeat(64));
    names.push(await nameWeights(home, folder, ['model.safetensors']));
  }
  expect(names[0]).toMatch(/^[0-9a-f]{64}$/);
  expect(names[1]).toBe(names[0]);
});

test('until then a file is told by its place, size, time and inode, also behind a link', async () => {
  const [home, folder, linked] = [makeTempDir(), await makeModel('abc'), makeTempDir()];
  await symlink(join(folder, 'model.safetensors'), join(linked, 'model.safetensors'));
  const name = await nameWeights(home, folder, ['model.safetensors']);
  expect(await nameWeights(home, linked, ['model.safetensors'])).toBe(name);
  await utimes(join(folder, 'model.safetensors'), 1, 1);
  expect(await nameWeights(home, folder, ['model.safetensors'])).not.toBe(name);
});

test('a changed file is not known by the digest of what it was', async () => {
  const [home, folder] = [makeTempDir(), await makeModel('abc')];
  await noteDigest(home, folder, 'd'.repeat(64));
  const name = await nameWeights(home, folder, ['model.safetensors']);
  await writeFile(join(folder, 'other'), 'abd');
  await rename(join(folder, 'other'), join(folder, 'model.safetensors'));
  expect(await nameWeights(home, folder, ['model.safetensors'])).not.toBe(name);
});

test('no files and missing files have no name', async () => {
  const [home, folder] = [makeTempDir(), await makeModel('abc')];
  expect(await nameWeights(home, folder, [])).toBeUndefined();
  expect(await nameWeights(home, folder, ['model.safetensors', 'gone.safetensors'])).toBeUndefined();
});
