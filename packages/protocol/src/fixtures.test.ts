// Both languages replay the same lines: apps/worker/tests/test_protocol.py is the other half.
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { engineCommandSchema } from './engine-messages.ts';
import { harnessCommandSchema } from './harness-messages.ts';
import { workerEventSchema } from './messages.ts';

interface Fixture {
  direction: 'command' | 'event';
  valid: boolean;
  why?: string;
  message: unknown;
}

const happyPath = readFixtures('happy-path.ndjson');
const refused = readFixtures('refused.ndjson');

function readFixtures(name: string): Fixture[] {
  const text = readFileSync(new URL(`../fixtures/${name}`, import.meta.url), 'utf8');
  return text.split('\n').filter(Boolean).map((line) => JSON.parse(line) as Fixture);
}

function isAccepted({ direction, message }: Fixture): boolean {
  if (direction === 'event') return workerEventSchema.safeParse(message).success;
  return engineCommandSchema.safeParse(message).success || harnessCommandSchema.safeParse(message).success;
}

function listTypes(schema: { options: readonly { shape: { type: { value: string } } }[] }): string[] {
  return schema.options.map((option) => option.shape.type.value);
}

describe('protocol fixtures', () => {
  it.each(happyPath.map((fixture) => [`${fixture.direction} ${(fixture.message as { type: string }).type}`, fixture] as const))(
    'accepts %s',
    (_, fixture) => {
      expect(isAccepted(fixture)).toBe(true);
    },
  );

  it.each(refused.map((fixture) => [`${fixture.direction}: ${fixture.why}`, fixture] as const))('refuses %s', (_, fixture) => {
    expect(isAccepted(fixture)).toBe(false);
  });

  it('covers every message type', () => {
    const known = new Set([...listTypes(engineCommandSchema), ...listTypes(harnessCommandSchema), ...listTypes(workerEventSchema)]);
    const shown = new Set(happyPath.map((fixture) => (fixture.message as { type: string }).type));
    expect([...known].filter((type) => !shown.has(type))).toEqual([]);
  });

  it('keeps every optional field in sight: parsing returns what was written', () => {
    for (const { direction, message } of happyPath) {
      const schemas = direction === 'event' ? [workerEventSchema] : [engineCommandSchema, harnessCommandSchema];
      const parsed = schemas.map((schema) => schema.safeParse(message)).find((result) => result.success);
      expect(parsed?.data).toEqual(message);
    }
  });
});
