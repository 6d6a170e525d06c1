// key=value lists as lm_eval reads them. On the command line a value may be a Python literal; inside a YAML text lm_eval
// reads by another, older rule. Both are kept, so that a command line or file means here what it means there.
import { evaluateLiteral } from './python-literal.ts';

export type Mapping = Record<string, unknown>;

/** Thrown by a parse rule; the caller adds the place. */
export class FormProblem extends Error {}

const PYTHON_FLOAT = /^[+-]?(?:\d+(?:_\d+)*\.?\d*(?:_\d+)*|\.\d+)(?:e[+-]?\d+)?$/i;

/** One value of a flag: lm_eval's handle_cli_value_string. */
export function parseFlagValue(text: string): unknown {
  const lower = text.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower === 'true';
  if (PYTHON_FLOAT.test(text.trim())) return Number(text.trim().replaceAll('_', ''));
  return evaluateLiteral(text, text);
}

/** One value inside a YAML text such as `model_args: "pretrained=x,dtype=y"`: lm_eval's handle_arg_string. */
export function parseTextValue(text: string): unknown {
  const trimmed = text.trim();
  const quoted = /^(['"])(.*)\1$/s.exec(trimmed);
  if (quoted) return quoted[2];
  const lower = trimmed.toLowerCase();
  if (lower === 'true' || lower === 'false') return lower === 'true';
  if (lower === 'none') return null;
  return PYTHON_FLOAT.test(trimmed) ? Number(trimmed.replaceAll('_', '')) : trimmed;
}

/** Cuts at commas outside brackets and quotes. */
export function splitTopLevel(text: string): string[] {
  const parts: string[] = [];
  let part = '';
  let depth = 0;
  let quote = '';
  for (const character of text) {
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === '\'') quote = character;
    else if ('[({'.includes(character)) depth += 1;
    else if ('])}'.includes(character)) depth = Math.max(depth - 1, 0);
    else if (character === ',' && depth === 0) {
      parts.push(part);
      part = '';
      continue;
    }
    part += character;
  }
  return [...parts, part].filter((each) => each !== '');
}

/** "a=1,b=[2,3]" as a mapping. The same key twice with two values is a problem, not a choice. */
export function parseKeyValues(text: string, parseValue: (text: string) => unknown = parseFlagValue): Mapping {
  const result: Mapping = {};
  for (const item of splitTopLevel(text)) {
    const place = item.indexOf('=');
    if (place < 1) throw new FormProblem(`expected key=value, found "${item}"`);
    const key = item.slice(0, place).trim();
    if (Object.hasOwn(result, key)) throw new FormProblem(`"${key}" is given twice in "${text}"`);
    result[key] = parseValue(item.slice(place + 1));
  }
  return result;
}
