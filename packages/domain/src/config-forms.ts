// The configuration in words: form, default and description of every key, read off the schema so that flags, errors and
// documents cannot say anything else.
import { z } from 'zod';
import { runConfigSchema } from './config.ts';

interface JsonSchema {
  /** Given in config.ts where the type alone says too little. */
  form?: string;
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  anyOf?: JsonSchema[];
  items?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  additionalProperties?: JsonSchema | boolean;
  minimum?: number;
  exclusiveMinimum?: number;
  default?: unknown;
  description?: string;
}

export interface ConfigKey {
  key: string;
  /** What may stand there, such as "a whole number, 1 or more". */
  form: string;
  default: unknown;
  description: string;
  /** Keys inside, where the key holds a mapping with known ones. */
  fields: ConfigKey[];
}

/** JSON Schema of a configuration as people write it. */
function buildConfigJsonSchema(): Record<string, unknown> {
  return z.toJSONSchema(runConfigSchema, { io: 'input', unrepresentable: 'any' });
}

/** Every key in the order of the schema. */
export function listConfigKeys(): ConfigKey[] {
  return listFields(buildConfigJsonSchema() as JsonSchema);
}

function listFields(schema: JsonSchema): ConfigKey[] {
  return Object.entries(schema.properties ?? {}).map(([key, property]) => ({
    key,
    form: describeForm(property),
    default: property.default,
    description: property.description ?? '',
    fields: [property, ...(property.anyOf ?? [])].flatMap(listFields),
  }));
}

/** The form at a path of a configuration, or undefined where the schema knows no such place. */
export function describeFormAt(path: readonly PropertyKey[]): string | undefined {
  let places: JsonSchema[] = [buildConfigJsonSchema() as JsonSchema];
  for (const step of path) {
    places = places.flatMap((place) => [place, ...(place.anyOf ?? [])]).flatMap((place) => descend(place, step));
  }
  return places[0] && describeForm(places[0]);
}

function descend(place: JsonSchema, step: PropertyKey): JsonSchema[] {
  if (typeof step === 'number') return place.items ? [place.items] : [];
  const property = place.properties?.[String(step)];
  if (property) return [property];
  return typeof place.additionalProperties === 'object' ? [place.additionalProperties] : [];
}

const TYPE_FORMS: Record<string, (schema: JsonSchema) => string> = {
  boolean: () => 'true or false',
  string: () => 'a text',
  integer: (schema) => `a whole number${describeBound(schema)}`,
  number: (schema) => `a number${describeBound(schema)}`,
  array: (schema) => `a list (each: ${describeForm(schema.items ?? {})})`,
  object: describeMapping,
};

function describeForm(schema: JsonSchema): string {
  if (schema.form) return schema.form;
  if (schema.anyOf) return schema.anyOf.map(describeForm).join(' or ');
  if (schema.const !== undefined) return String(schema.const);
  if (schema.enum) return joinChoices(schema.enum.map(String));
  const types = [schema.type ?? []].flat();
  return types.map((type) => TYPE_FORMS[type]?.(schema) ?? type).join(' or ') || 'anything';
}

function describeBound({ minimum, exclusiveMinimum }: JsonSchema): string {
  if (minimum !== undefined && minimum > -1e15) return ` of ${minimum} or more`;
  return exclusiveMinimum === undefined ? '' : ` above ${exclusiveMinimum}`;
}

function joinChoices(choices: readonly string[]): string {
  return choices.length < 2 ? choices.join() : `${choices.slice(0, -1).join(', ')} or ${choices.at(-1)}`;
}

function describeMapping(schema: JsonSchema): string {
  const keys = Object.keys(schema.properties ?? {});
  return keys.length === 0 ? 'a mapping' : `a mapping of ${keys.join(', ')}`;
}
