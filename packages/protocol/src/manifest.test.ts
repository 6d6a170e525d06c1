import { describe, expect, it } from 'vitest';
import { buildManifestJsonSchema, manifestSchema } from './manifest.ts';
import { buildSampleManifest } from '../../../test/support/sample-manifest.ts';

describe('the manifest', () => {
  it('is published as a JSON Schema (vitest -u writes it)', async () => {
    await expect(`${JSON.stringify(buildManifestJsonSchema(), null, 2)}\n`).toMatchFileSnapshot('../../../docs/manifest.schema.json');
  });

  it('accepts a complete one', () => {
    expect(manifestSchema.safeParse(buildSampleManifest()).error).toBeUndefined();
  });

  it('needs every section, and takes none that it does not know', () => {
    const whole = buildSampleManifest();
    for (const section of Object.keys(whole)) {
      const { [section as keyof typeof whole]: _, ...rest } = whole;
      expect(manifestSchema.safeParse(rest).success, section).toBe(false);
    }
    expect(manifestSchema.safeParse({ ...whole, more: 1 }).success).toBe(false);
  });
});
