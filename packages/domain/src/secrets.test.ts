// Both languages replay the same lines: apps/worker/tests/test_secrets.py is the other half.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSecretKey, redactCommand, redactSecrets } from './secrets.ts';

interface Fixture {
  kind: 'key' | 'value';
  given: unknown;
  /** Whether a key names a secret; what is written of a value. */
  written: unknown;
}

const text = readFileSync(new URL('../../protocol/fixtures/secrets.ndjson', import.meta.url), 'utf8');
const fixtures = text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Fixture);
const linesOf = (kind: Fixture['kind']) => fixtures.filter((fixture) => fixture.kind === kind).map(({ given, written }) => [given, written] as const);

describe('secrets', () => {
  it.each(linesOf('key'))('takes %s for a secret: %s', (given, written) => expect(isSecretKey(given as string)).toBe(written));

  it.each(linesOf('value'))('writes %o as %o', (given, written) => {
    expect(redactSecrets(given)).toEqual(written);
    expect(redactSecrets(written)).toEqual(written);
  });

  it('redacts a flag\'s value on a command line', () => {
    expect(redactCommand(['run', '--hf_token', 'abc', '--tasks', 'm', '--model_args', 'pretrained=x,token=q'])).toEqual(
      ['run', '--hf_token', '[redacted]', '--tasks', 'm', '--model_args', 'pretrained=x,token=[redacted]'],
    );
  });
});
