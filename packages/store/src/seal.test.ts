import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildSampleManifest } from '../../../test/support/sample-manifest.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';
import { digestFolder, readManifest, sealManifest } from './seal.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('sealManifest', () => {
  it('writes a manifest that is read back equal, without the secrets of the command and the configuration', async () => {
    const dir = makeTempDir();
    const digest = await sealManifest(dir, buildSampleManifest());
    const text = readFileSync(join(dir, 'manifest.json'), 'utf8');
    expect(digest).toBe(sha256(text));
    expect(text).not.toContain('secret-value');
    const { command, config, engine, ...rest } = buildSampleManifest();
    expect(await readManifest(dir)).toMatchObject(rest);
    expect(readdirSync(dir)).toEqual(['manifest.json']);
  });

  it('never rewrites a sealed one, and leaves nothing where the form is wrong', async () => {
    const dir = makeTempDir();
    await expect(sealManifest(dir, { ...buildSampleManifest(), determinism: 'sometimes' as 'fast' })).rejects.toMatchObject({ code: 'BUG' });
    expect(await readManifest(dir)).toBeUndefined();
    await sealManifest(dir, buildSampleManifest());
    await expect(sealManifest(dir, buildSampleManifest())).rejects.toMatchObject({ code: 'BUG' });
  });

  it('refuses another schema version by name, and a changed file', async () => {
    const dir = makeTempDir();
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ ...buildSampleManifest(), schema: 3 }));
    await expect(readManifest(dir)).rejects.toMatchObject({ code: 'RUN_VERSION', details: { found: '3', known: 2 } });
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ schema: 2 }));
    await expect(readManifest(dir)).rejects.toMatchObject({ code: 'RESULTS_DAMAGED' });
  });
});

describe('a manifest of an older form', () => {
  it('is refused by its number and its writer, not taken for a damaged one', async () => {
    const dir = makeTempDir();
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ schema: 1, code: { version: '0.1.0', commit: '0123456789abcdef' }, run: {} }));
    await expect(readManifest(dir)).rejects.toThrow(`${join(dir, 'manifest.json')}: schema 1, this version reads 2: it was written by Assay 0.1.0 (commit 0123456789ab)`);
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ schema: 1 }));
    await expect(readManifest(dir)).rejects.toThrow('schema 1, this version reads 2: it was written by an older version of Assay');
  });
});

describe('digestFolder', () => {
  it('names each file by its path in the run directory', async () => {
    const dir = makeTempDir();
    mkdirSync(join(dir, 'scores', 'deep'), { recursive: true });
    writeFileSync(join(dir, 'scores', 'a.json'), 'a');
    writeFileSync(join(dir, 'scores', 'deep', 'b.json'), 'bb');
    expect(await digestFolder(dir, 'scoresDir')).toEqual({ 'scores/a.json': { sha256: sha256('a'), bytes: 1 }, 'scores/deep/b.json': { sha256: sha256('bb'), bytes: 2 } });
    expect(await digestFolder(dir, 'resultsDir')).toEqual({});
  });
});
