// All flags of a run in one list, and the look-ups the rest needs.
import { ASSAY_FLAGS } from './assay-flags.ts';
import type { FlagEntry } from './flag-entry.ts';
import { LM_EVAL_FLAGS } from './lm-eval-flags.ts';

export const FLAGS: readonly FlagEntry[] = [...LM_EVAL_FLAGS, ...ASSAY_FLAGS];

const byName = new Map(FLAGS.map((entry) => [entry.flag, entry]));

export function findFlag(name: string): FlagEntry | undefined {
  return byName.get(name);
}

/** True for `--limit`, `-L` or `--num-fewshot=5`: text that stands for a flag, not for a value. */
export function isFlagText(text: string): boolean {
  const name = text.replace(/=.*$/s, '');
  if (name.startsWith('--')) return byName.has(name.slice(2).replaceAll('-', '_'));
  return FLAGS.some((entry) => entry.short !== undefined && name === `-${entry.short}`);
}
