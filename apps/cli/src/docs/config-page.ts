// docs/configuration.md, written from the configuration's schema.
import { type ConfigKey, listConfigKeys } from '@assay/domain';
import { LM_EVAL_FLAGS } from '../flags/lm-eval-flags.ts';
import { escape, flagOf } from './flag-page.ts';

const lmEvalKeys = new Set(LM_EVAL_FLAGS.map((entry) => entry.key));

export function buildConfigPage(): string {
  const keys = listConfigKeys();
  const [theirs, ours] = [keys.filter((key) => isLmEvals(key)), keys.filter((key) => !isLmEvals(key))];
  return `<!-- Written by \`node apps/cli/src/docs/write-docs.ts\` from packages/domain/src/config.ts; a test compares. -->
# Configuration

A run is configured by defaults, then a \`--config\` file, then flags: the later wins, key by key. Every key is also a flag
([lm-eval-flags.md](lm-eval-flags.md)). \`assay plan\` shows every value and where it came from.

The file is YAML 1.2 or JSON, with \`yes\`, \`no\`, \`on\` and \`off\` as booleans, as lm_eval reads them. It is refused, with file, line and column, where
a key is unknown (keys are spelt exactly, with underscores), stands at another level, is given twice, or has a value of
another form: the text \`"false"\` is not false, and \`"5"\` is not 5. A key that is \`null\` counts as not given.

\`\`\`yaml
model: vllm
model_args: {pretrained: ./models/smollm2, dtype: bfloat16, max_model_len: 4096}
tasks: [m_anatomy, g_gsm8k]
include_path: ./tasks
num_fewshot: 5
limit: 100
output_path: runs/smollm2
# ours
plan: {data: 2}
limits: {memory: 5GiB}
\`\`\`

## Keys of lm_eval

${buildTable(theirs)}

\`tasks\` and \`include_path\` may be one text with commas, \`model_args\`, \`gen_kwargs\` and \`metadata\` a text of \`key=value\` pairs, \`seed\`
one number or a list of four, \`samples\` the path of a JSON file. Other keys of lm_eval may stand in the file where they ask for
nothing; \`use_cache: null\` is accepted, \`use_cache: some.db\` is refused with the reason.

\`limit: 1\` is one document and \`limit: 0.1\` a tenth of each task by itself, rounded up. \`1.0\` is refused, since it could mean either.

## Our keys

${buildTable(ours)}
${ours.filter((key) => key.fields.length > 0).map(buildFields).join('')}
## Environment

| variable | what it does |
|---|---|
| \`ASSAY_HOME\` | where environments, the demo model and caches are kept (default: \`$XDG_CACHE_HOME/assay\`, else \`~/.cache/assay\`) |
| \`VLLM_CACHE_ROOT\`, \`VLLM_CONFIG_ROOT\`, \`TORCHINDUCTOR_CACHE_DIR\`, \`TRITON_CACHE_DIR\`, \`FLASHINFER_WORKSPACE_BASE\`, \`CUDA_CACHE_PATH\` | where these libraries keep what they compile, instead of \`caches\` in \`ASSAY_HOME\` |
| \`ASSAY_PYTHON\` | interpreter of the engine and the harness, instead of the set-up's |
| \`REDIS_URL\` | a Redis to use (\`redis://\`, \`rediss://\`, \`unix://\`), instead of one started for the run |
| \`ASSAY_DEBUG\` | set: errors show their stack |
| \`HF_HOME\`, \`HF_HUB_CACHE\`, \`HF_ENDPOINT\`, \`HF_TOKEN\`, \`HF_HUB_OFFLINE\` | as everywhere |
| \`CUDA_VISIBLE_DEVICES\` | the GPUs that a run may use: UUIDs, beginnings of UUIDs, ids of slices (MIG) or numbers in nvidia-smi's order; empty means none and is warned of, a device that is not there or is named twice is refused |
| \`CXX\` | the C++ compiler for compilation on CPU, instead of \`g++\` |
| \`LMEVAL_LOG_LEVEL\` | log level of the harness; \`--verbosity\` sets it |
`;
}

const isLmEvals = (key: ConfigKey): boolean => lmEvalKeys.has(key.key as never);

function buildTable(keys: ConfigKey[]): string {
  const rows = keys.map((key) => `| \`${key.key}\` | ${escape(key.form)} | ${showDefault(key.default)} | ${escape(key.description)}${noteFlag(key.key)} |`);
  return ['| key | form | default | what it is |', '|---|---|---|---|', ...rows].join('\n');
}

const noteFlag = (key: string): string => (flagOf(key) === `--${key}` ? '' : ` (flag \`${flagOf(key)}\`)`);

function buildFields({ key, fields }: ConfigKey): string {
  const rows = fields.map((field) => `| \`${key}.${field.key}\` | ${escape(field.form)} | ${escape(field.description)} |`);
  return `\n| inside \`${key}\` | form | what it is |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function showDefault(value: unknown): string {
  if (value === undefined) return '';
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
