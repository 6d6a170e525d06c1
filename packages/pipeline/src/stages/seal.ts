// SEAL: the manifest, composed from the record and renamed in last. Its presence means that the run is complete.
import { type Manifest, type ManifestInput, PROTOCOL_VERSION, type Loaded, type MetricRow, type Rendered } from '@assay/protocol';
import { type CodeVersion, digestFolder, digestOf, readIdentity, readRunJson, type ResultLedger, sealManifest, settleIdentity, writeRunJson } from '@assay/store';
import type { Hello } from '@assay/workers';
import type { Plan } from '@assay/planner';
import type { IdleShare } from '../idle-clock.ts';
import {
  describeCoverage, describeDevice, describeEngine, describeHistory, describeModel, describeNumerics, describePlan, describeProbe, describeTasks, describeTimings, describeWeights,
} from '../manifest-parts.ts';
import type { ModelFiles } from '../preflight/model-files.ts';
import type { RunContext } from '../run-context.ts';
import type { ProbeReport } from './probe-report.ts';
import type { Scorer } from './score.ts';

/** What the engine was asked for and what it said, kept in engine.json: a resumed run may need no engine any more. */
interface EngineRecord {
  /** Engine arguments as given by the user and the plan. */
  asked: Record<string, unknown>;
  hello: Hello;
  loaded: Loaded;
  plan: Plan;
}

interface SealInput {
  code: CodeVersion;
  model: ModelFiles;
  rendered: Rendered;
  harness: Hello;
  results: ResultLedger;
  scorer: Scorer;
  rows: readonly MetricRow[];
  idle: IdleShare;
}

const RUNG_FIELDS = ['maxNumSeqs', 'maxNumBatchedTokens', 'enforceEager', 'tensor'] as const;

/** Writes down what the engine is. A resumed run's must be the same in everything that decides the bits. */
export async function recordEngine(context: RunContext, record: EngineRecord): Promise<void> {
  await settleIdentity(context.run, 'weights', describeWeights(record.loaded));
  await settleIdentity(context.run, 'numeric', await keepFirstPlan(context, describeNumerics(context.config, record.plan, record.loaded)));
  await writeRunJson(context.run.paths.engine, record);
}

/** A smaller plan taken in mid-run stands in the events, by shard: the run's identity stays that of the plan it began with. */
async function keepFirstPlan({ run, events }: RunContext, numeric: Record<string, unknown>): Promise<Record<string, unknown>> {
  if (!events.history.rungs.some(({ shard }) => shard !== undefined)) return numeric;
  const first = (await readIdentity(run)).numeric ?? {};
  return { ...numeric, ...Object.fromEntries(RUNG_FIELDS.filter((field) => field in first).map((field) => [field, first[field]])) };
}

export async function sealRun(context: RunContext, input: SealInput): Promise<void> {
  const manifest = await composeManifest(context, input);
  const digest = await sealManifest(context.run.dir, manifest);
  await context.events.append({ type: 'sealed', epoch: context.epoch, digest });
}

async function composeManifest(context: RunContext, input: SealInput): Promise<ManifestInput> {
  const { config, run, events, determinism } = context;
  const { rendered, results, idle } = input;
  const { asked, hello, loaded, plan } = (await readRunJson(run.paths.engine)) as EngineRecord;
  const probe = (await readRunJson(run.paths.probe)) as ProbeReport;
  const { semantic: meaning = {}, weights = {}, numeric = {} } = await readIdentity(run);
  const semantic = { ...meaning, ...weights };
  const idleSeconds = idle.wallSeconds - idle.computingSeconds;
  return {
    schema: 1,
    run: { id: run.header.id, createdAt: run.header.createdAt, sealedAt: new Date().toISOString(), epochs: events.history.epoch },
    code: { ...input.code, node: process.version, protocol: PROTOCOL_VERSION },
    command: [...context.command],
    config: JSON.parse(JSON.stringify(config)) as Manifest['config'],
    determinism,
    scoring: config.scoring,
    harness: describeHarness(context, input.harness),
    tasks: describeTasks(rendered, input.scorer),
    groups: rendered.groups,
    prompts: describePrompts(context, rendered),
    seeds: describeSeeds(rendered, loaded),
    model: describeModel(input.model, loaded, rendered),
    engine: describeEngine(config, { asked, hello, loaded }),
    device: describeDevice(loaded),
    plan: describePlan(config, plan, events.history.rungs.length),
    probe: describeProbe(probe),
    ...describeHistory(events.history),
    timings: describeTimings(events.history, idle.wallSeconds),
    idle: { wallSeconds: idle.wallSeconds, computingSeconds: idle.computingSeconds, causes: idle.idleSeconds, share: idle.wallSeconds > 0 ? Math.min(1, idleSeconds / idle.wallSeconds) : 0 },
    outcomes: results.countByKind(),
    coverage: describeCoverage(results),
    scores: { rows: [...input.rows], files: await digestFolder(run.dir, 'scoresDir') },
    requestFiles: await digestFolder(run.dir, 'requestsDir'),
    results: await describeResults(context, results),
    identity: { semantic: { digest: digestOf(semantic), fields: semantic }, numeric: { digest: digestOf(numeric), fields: numeric } },
  };
}

function describeHarness({ config }: RunContext, hello: Hello): ManifestInput['harness'] {
  return {
    name: 'lm_eval', version: hello.packages['lm_eval'] ?? 'unknown', python: hello.python, packages: hello.packages,
    trustRemoteCode: config.trust_remote_code, unsafeCodeConfirmed: config.confirm_run_unsafe_code,
  };
}

function describePrompts({ config }: RunContext, rendered: Rendered): ManifestInput['prompts'] {
  const { digest, requests, tokens, tokenizerDigest, chatTemplate, chatTemplateDigest, fewshotAsMultiturn, bos } = rendered;
  return {
    digest, requests, tokens, tokenizerDigest, chatTemplate, chatTemplateDigest, fewshotAsMultiturn, bos, overlong: config.overlong,
    systemInstruction: config.system_instruction ?? null,
  };
}

/** The harness's seeds as it applied them, and the engine's as it reports it. */
function describeSeeds(rendered: Rendered, loaded: Loaded): ManifestInput['seeds'] {
  const engine = (loaded.effective as { numerics?: { seed?: number | null } }).numerics?.seed ?? null;
  return {
    ...(rendered.seeds as ManifestInput['seeds']),
    engine: { value: engine, appliedTo: ['the engine\'s own random state'] },
    request: { value: (loaded.effective as { runSeed?: number }).runSeed ?? null, appliedTo: ['each sampled request, with its task, ordinal and repeat'] },
  };
}

async function describeResults({ run, events }: RunContext, results: ResultLedger): Promise<ManifestInput['results']> {
  const openTries = Array.from({ length: results.index.count }, (_, row) => results.tries(row)).reduce((sum, tries) => sum + tries, 0);
  const { duplicates, tornLines, fencedBytes } = results;
  return { files: await digestFolder(run.dir, 'resultsDir'), duplicates, tornLines, fencedBytes, openTries, failedAttempts: events.history.failedAttempts };
}
