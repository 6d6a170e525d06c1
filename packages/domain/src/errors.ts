// The one table of things that can go wrong. docs/errors.md is tested against it in both directions.

type ErrorKind = 'usage' | 'environment' | 'run' | 'gate' | 'bug' | 'interrupted';

/** Process exit codes; the meaning of each is stated in docs/errors.md. */
export const EXIT_CODES = {
  done: 0,
  incomplete: 1,
  usage: 2,
  environment: 3,
  run: 4,
  gate: 5,
  bug: 70,
  interrupted: 130,
} as const;

interface ErrorEntry {
  kind: ErrorKind;
  /** First line: what happened. `{name}` is filled from the error's details. */
  what: string;
  /** Second line: what to do. */
  remedy: string;
  /** Fills `{instead}` where whoever throws knows nothing better. */
  instead?: string;
}

const define = <Code extends string>(table: Record<Code, ErrorEntry>): Readonly<Record<Code, ErrorEntry>> => table;

export const ERRORS = define({
  // usage: the command, the configuration or the files it names
  CONFIG_SYNTAX: { kind: 'usage', what: '{place}: {problem}', remedy: 'Correct the file; nothing has been started.' },
  CONFIG_UNKNOWN_KEY: { kind: 'usage', what: '{place}: unknown key "{key}"', remedy: '{nearest}' },
  CONFIG_VALUE: { kind: 'usage', what: '{place}: {key}: {problem}', remedy: '{instead}', instead: 'Give a value of the stated form; `assay run --help` lists them.' },
  FLAG_UNKNOWN: { kind: 'usage', what: 'unknown flag {flag}', remedy: '{nearest}' },
  ARGUMENT_UNKNOWN: { kind: 'usage', what: 'unknown {what} "{name}"', remedy: '{nearest}' },
  FLAG_REFUSED: { kind: 'usage', what: '{flag} is not supported: {reason}', remedy: '{instead}' },
  TASK_UNKNOWN: { kind: 'usage', what: 'unknown task "{task}"', remedy: '{nearest}' },
  TASK_NONE: { kind: 'usage', what: 'no task was given, or nothing matches {pattern}', remedy: 'Name tasks with --tasks: names, patterns, YAML files or folders. `lm_eval ls tasks`, in the Python environment that `assay doctor` shows, lists those that ship with it.' },
  TASK_INVALID: { kind: 'usage', what: 'task {task} cannot be built: {problem}', remedy: 'Correct the task; no model was loaded.' },
  TASK_MULTIMODAL: { kind: 'usage', what: 'task {task} needs images or audio', remedy: 'Only text tasks are supported; leave it out.' },
  TASK_UNSAFE: { kind: 'usage', what: 'task {task} runs code that the model writes', remedy: 'Pass --confirm_run_unsafe_code if you accept that.' },
  DATASET_EMPTY: { kind: 'usage', what: 'task {task} has no documents ({problem})', remedy: 'Check the split and the data files it names.' },
  DATASET_FIELD_MISSING: { kind: 'usage', what: 'task {task}, document {doc}: {problem}', remedy: 'Correct the document or the template; no model was loaded.' },
  MODEL_NOT_FOUND: { kind: 'usage', what: 'no model at {model}: {problem}', remedy: 'Give a folder with config.json, safetensors weights and a tokenizer, or a hub id that can be reached.' },
  MODEL_BROKEN: { kind: 'usage', what: 'the model at {model} is not usable: {problem}', remedy: '{instead}', instead: 'Fetch its files again, whole.' },
  MODEL_TYPE: { kind: 'usage', what: 'there is no engine for --model {model}', remedy: '{instead}' },
  PROMPT_TOO_LONG: { kind: 'usage', what: '{count} prompts are longer than the context window of {window} tokens (first: {first})', remedy: 'Raise max_model_len, or accept cutting them with `overlong: truncate`.' },
  OUTPUT_BUDGET: { kind: 'usage', what: 'task {task}: max_gen_toks {budget} leaves no room for a prompt in a context window of {window} tokens', remedy: 'Lower max_gen_toks or raise max_model_len.' },
  RUN_DIFFERS: { kind: 'usage', what: '{dir} holds a run of another configuration: {differences}', remedy: 'Choose another --output_path, or give the same settings to resume it.' },
  RUN_BUSY: { kind: 'usage', what: '{dir} is in use by another process (pid {pid})', remedy: 'Wait for it to end, or choose another --output_path.' },
  RUN_NOT_FOUND: { kind: 'usage', what: 'no run at {dir}', remedy: 'Give the path of a run directory; `assay run` prints it.' },
  SCORES_MISSING: { kind: 'usage', what: '{dir} has no scores yet: the run is {state}', remedy: '{instead}', instead: 'The command that started it, given again, completes it; `assay status` shows how far it is.' },
  RUN_VERSION: { kind: 'usage', what: '{dir}: schema {found}, this version reads {known}: {problem}', remedy: 'Read it with the version of Assay that wrote it, or give another --output_path to run anew.' },
  RESULTS_DAMAGED: { kind: 'usage', what: '{place}: {problem}', remedy: '{instead}' },
  PLAN_IMPOSSIBLE: { kind: 'usage', what: 'the plan cannot be run: {problem}', remedy: '{instead}' },

  // environment: the machine
  PYTHON_MISSING: { kind: 'environment', what: 'no usable Python environment: {problem}', remedy: 'Run `npm run setup` in the clone. Where ASSAY_PYTHON is set it counts instead: unset it, or let it name an interpreter that has vllm and lm_eval.' },
  HUB_UNREACHABLE: { kind: 'environment', what: '{subject} cannot be fetched: {problem}', remedy: '{instead}' },
  REDIS_MISSING: { kind: 'environment', what: 'no Redis server found', remedy: 'Set REDIS_URL, install redis-server or valkey-server, or run `npm run setup` in the clone.' },
  REDIS_UNREACHABLE: { kind: 'environment', what: 'Redis at {url} does not answer: {problem}', remedy: 'Check REDIS_URL; without it Assay starts its own server.' },
  REDIS_START: { kind: 'environment', what: 'the Redis server {program}, started by Assay, does not run: {problem}', remedy: 'Its log is {log}. Install valkey-server or redis-server, or set REDIS_URL.' },
  REDIS_POLICY: { kind: 'environment', what: 'Redis evicts keys (maxmemory-policy {policy})', remedy: 'Set `maxmemory-policy noeviction`, or unset REDIS_URL.' },
  REDIS_VERSION: { kind: 'environment', what: 'Redis {version} is too old', remedy: 'Use Redis 6.2 or newer, or unset REDIS_URL.' },
  REDIS_FULL: { kind: 'environment', what: 'Redis is out of memory', remedy: 'Raise its maxmemory; the same command resumes the run.' },
  OUTPUT_NOT_WRITABLE: { kind: 'environment', what: '{dir} cannot be written: {problem}', remedy: 'Choose another --output_path.' },
  DISK_FULL: { kind: 'environment', what: 'no space: {dir} has {free} free, {needed} needed', remedy: 'Free some space; the same command resumes the run.' },
  TOO_MANY_FILES: { kind: 'environment', what: 'too many files are open: {problem}', remedy: 'Raise the limit: `ulimit -n 1024` in this shell, LimitNOFILE of a service, `--ulimit nofile=1024` of a container. Then give the same command again.' },
  DEVICE_UNKNOWN: { kind: 'environment', what: 'CUDA_VISIBLE_DEVICES names {problem}', remedy: 'Let it name devices of this node, each once (`nvidia-smi -L` lists them), unset it to use them all, or set it to nothing to run on the CPU.' },
  DEVICES_BUSY: { kind: 'environment', what: 'no GPU is free: {devices}', remedy: 'Wait for what uses them to end; CUDA_VISIBLE_DEVICES set to nothing runs on the CPU.' },
  CGROUP_UNAVAILABLE: {
    kind: 'environment', what: 'limits.kind: cgroup cannot be had here: {problem}',
    remedy: 'Use limits.kind: address_space; or run as root, under `systemd-run --user --scope -p Delegate=yes`, or in a container whose /sys/fs/cgroup is writable.',
  },
  ADDRESS_IN_USE: { kind: 'environment', what: 'cannot listen on {address}: {problem}', remedy: 'Give --metrics another HOST:PORT.' },

  // run: it started and could not end well
  WORKER_START: { kind: 'run', what: 'the worker {worker} did not start: {problem}', remedy: 'Its log is {log}.' },
  WORKER_PROTOCOL: { kind: 'run', what: 'the {role} worker speaks protocol {found}, this build {known}', remedy: 'Update the clone as a whole: its TypeScript and its Python are of different versions. `git status` shows what differs.' },
  WORKER_CRASHED: { kind: 'run', what: 'the worker {worker} ended ({how}): {problem}', remedy: 'Its log is {log}; the same command resumes the run.' },
  ENGINE_LOAD: { kind: 'run', what: '{worker} cannot load the model ({class}): {problem}', remedy: '{instead}' },
  PROBE_OOM: { kind: 'run', what: 'the model does not fit: {problem}', remedy: '{instead}' },
  HARNESS_FAILED: { kind: 'run', what: 'the harness failed in {stage}: {problem}', remedy: 'The log is {log}.' },
  RUN_TIMEOUT: { kind: 'run', what: 'the run took longer than run_timeout ({seconds} s)', remedy: 'The same command resumes it.' },

  INTERRUPTED: { kind: 'interrupted', what: 'interrupted', remedy: '{instead}' },
  ILLEGAL_STATE: { kind: 'bug', what: '{machine} cannot go from {from} to {to}', remedy: 'This is a defect in Assay; please report it with the run\'s events.ndjson.' },
  BUG: { kind: 'bug', what: '{problem}', remedy: 'This is a defect in Assay; please report it with the run\'s logs.' },
});

export type ErrorCode = keyof typeof ERRORS;
type ErrorDetails = Record<string, string | number>;

/** Thrown for everything that is not an expected outcome. Prints as two lines: what happened, what to do. */
export class AssayError extends Error {
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, details: ErrorDetails = {}, options?: { cause?: unknown }) {
    super(fillTemplate(ERRORS[code].what, details), options);
    this.name = 'AssayError';
    this.code = code;
    this.details = details;
  }

  get kind(): ErrorKind {
    return ERRORS[this.code].kind;
  }

  get remedy(): string {
    const { remedy, instead }: ErrorEntry = ERRORS[this.code];
    return fillTemplate(remedy, instead === undefined ? this.details : { instead, ...this.details });
  }

  get exitCode(): number {
    return EXIT_CODES[this.kind];
  }
}

function fillTemplate(template: string, details: ErrorDetails): string {
  return template.replace(/\{(\w+)\}/g, (_, name: string) => String(details[name] ?? 'unknown'));
}
