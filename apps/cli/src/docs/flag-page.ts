// docs/lm-eval-flags.md, written from the flag table.
import { ASSAY_FLAGS } from '../flags/assay-flags.ts';
import type { FlagEntry } from '../flags/flag-entry.ts';
import { FLAGS } from '../flags/flag-table.ts';
import { LM_EVAL_FLAGS, LM_EVAL_VERSION } from '../flags/lm-eval-flags.ts';
import { LM_EVAL_MODELS, SUPPORTED_MODELS } from '../config/models.ts';
import { describeFlag } from '../load-config.ts';

const STATUS_WORDS = { supported: 'supported', noted: 'accepted, with a note', refused: 'refused' } as const;

export function buildFlagPage(): string {
  return `<!-- Written by \`node apps/cli/src/docs/write-docs.ts\` from apps/cli/src/flags; a test compares. -->
# lm_eval's flags

Every flag of \`lm_eval run\` ${LM_EVAL_VERSION} and what it means to \`assay run\`. Replace \`lm_eval\` by \`assay\` in a command line: what is
supported means the same, what is not is refused before anything starts.

Rules that hold for all of them:

- In flags, dashes and underscores are the same: \`--num-fewshot\` is \`--num_fewshot\`. In files, keys have underscores.
- Short forms are lm_eval's. \`assay --tasks …\` without a command is \`assay run --tasks …\`.
- A switch may be given bare or with a value: \`--predict_only\`, \`--probe false\`. true, yes, on, 1 and
  false, no, off, 0 are values; anything else is refused.
- \`key=value\` lists are read as lm_eval reads them: numbers, true and false, Python lists and mappings, else text. A value that
  starts with \`{\` is JSON. Given several times, they are merged.
- A flag replaces the file's value whole, mappings included, as in lm_eval; the plan shows where each value came from.
- A key of a \`--config\` file has the name of its flag, and the same status.

| flag | short | status | what it does here |
|---|---|---|---|
${LM_EVAL_FLAGS.map(buildRow).join('\n')}

## Flags that are ours

| flag | what it does |
|---|---|
${ASSAY_FLAGS.map((entry) => `| \`--${entry.flag}\` | ${escape(describeFlag(entry))} |`).join('\n')}

## Other commands of lm_eval

\`lm_eval ls\` and \`lm_eval validate\` have no counterpart; \`lm_eval\` itself is in the Python environment that the set-up makes
(\`assay doctor\` shows where). Tasks are checked when their requests are built, before a model is loaded.

## Models

\`--model\` is one of: ${SUPPORTED_MODELS.join(', ')} (\`simulated\` answers without a model, for tests of scale and faults). lm_eval's other names are
refused by name: ${LM_EVAL_MODELS.filter((name) => !SUPPORTED_MODELS.includes(name)).join(', ')}.
`;
}

function buildRow(entry: FlagEntry): string {
  const short = entry.short === undefined ? '' : `\`-${entry.short}\``;
  return `| \`--${entry.flag}\` | ${short} | ${STATUS_WORDS[entry.status]} | ${escape(describeRow(entry))} |`;
}

function describeRow(entry: FlagEntry): string {
  if (entry.status === 'refused') return `${capitalise(entry.reason ?? '')}. ${entry.instead}`;
  if (entry.status === 'noted') return entry.note ?? '';
  return [`${capitalise(describeFlag(entry))}.`, entry.note].filter((part) => part !== undefined).join(' ');
}

const capitalise = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export const escape = (text: string): string => text.replaceAll('|', '\\|');

/** The flag of a configuration key. */
export const flagOf = (key: string): string => `--${FLAGS.find((entry) => entry.key === key)?.flag ?? key}`;
