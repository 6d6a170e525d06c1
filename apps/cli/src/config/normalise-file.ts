// The other spellings lm_eval allows in a file: texts for lists and mappings, one number for four seeds, null for unset.
import { AssayError, runConfigSchema } from '@assay/domain';
import { FormProblem, parseKeyValues, parseTextValue } from '../flags/key-values.ts';
import { checkLimitText, expandSeeds, parseSamples } from '../flags/parse-rules.ts';
import type { ConfigFile } from './config-file.ts';

const TEXT_LISTS = ['tasks', 'include_path'];
const TEXT_MAPPINGS = ['model_args', 'gen_kwargs', 'metadata', 'limits', 'plan'];

/** The file's values in the schema's own forms. Keys that set nothing here, and those that are null, are left out. */
export function normaliseFile(file: ConfigFile): Record<string, unknown> {
  const result: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(file.values)) {
    if (value === null || !Object.hasOwn(runConfigSchema.shape, key)) continue;
    try {
      result[key] = normaliseValue(key, value, file);
    } catch (thrown) {
      if (!(thrown instanceof FormProblem)) throw thrown;
      throw new AssayError('CONFIG_VALUE', { place: file.placeOf([key]), key, problem: thrown.message });
    }
  }
  return result;
}

function normaliseValue(key: string, value: unknown, file: ConfigFile): unknown {
  if (key === 'limit') checkLimitText(file.textOf([key]) ?? '');
  if (key === 'seed') return normaliseSeed(value);
  if (typeof value !== 'string') return value;
  if (TEXT_LISTS.includes(key)) return value.split(',').map((part) => part.trim()).filter((part) => part !== '');
  if (key === 'samples') return parseSamples(value);
  if (TEXT_MAPPINGS.includes(key) && value !== 'auto') return parseKeyValues(value, parseTextValue);
  return value;
}

function normaliseSeed(value: unknown): unknown {
  if (Array.isArray(value)) return expandSeeds(value);
  return typeof value === 'object' ? value : expandSeeds([value]);
}
