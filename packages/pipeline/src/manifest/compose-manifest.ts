// The manifest as a whole, from what the stages left: events, replies of the workers, files. Effective values come from the
// engine's own words; nothing here echoes the configuration except under `asked` and `config`.
import { type Manifest, type ManifestInput, MANIFEST_SCHEMA_VERSION, type MetricRow, PROTOCOL_VERSION, type Rendered } from '@assay/protocol';
import { type CodeVersion, digestFolder, digestOf, readIdentity, readRunJson, type ResultLedger } from '@assay/store';
import type { Hello } from '@assay/workers';
import type { IdleShare } from '../idle-clock.ts';
import type { ModelFiles } from '../preflight/model-files.ts';
import type { EngineRecord } from '../records/engine-record.ts';
import type { ProbeReport } from '../records/probe-report.ts';
import type { RunContext } from '../run-context.ts';
import { describeDevice } from './device.ts';
import { describeEngine } from './engine.ts';
import { describeCoverage, describeEvents, describeResults, describeTasks, describeTime, describeWork, type TaskScores } from './outcomes.ts';
import { describeOrders, describePlan, describeProbe, describeRungs } from './plan.ts';
import { describeHarness, describeModel, describePrompts, describeSeeds } from './sources.ts';

export interface SealInput {
  code: CodeVersion;
  model: ModelFiles;
  rendered: Rendered;
  harness: Hello;
  results: ResultLedger;
  scores: TaskScores;
  rows: readonly MetricRow[];
  idle: IdleShare;
}

export async function composeManifest(context: RunContext, input: SealInput): Promise<ManifestInput> {
  const { config, run, events: { history }, determinism } = context;
  const { rendered, results, scores } = input;
  const engine = (await readRunJson(run.paths.engine)) as EngineRecord;
  const probe = (await readRunJson(run.paths.probe)) as ProbeReport;
  return {
    schema: MANIFEST_SCHEMA_VERSION,
    run: { id: run.header.id, createdAt: run.header.createdAt, sealedAt: new Date().toISOString(), epochs: history.epoch },
    code: { ...input.code, node: process.version, protocol: PROTOCOL_VERSION },
    command: [...context.command],
    config: JSON.parse(JSON.stringify(config)) as Manifest['config'],
    determinism,
    scoring: config.scoring,
    harness: describeHarness(context, input.harness),
    tasks: describeTasks(rendered, scores),
    groups: rendered.groups,
    prompts: describePrompts(context, rendered),
    seeds: describeSeeds(rendered, engine.loaded),
    model: describeModel(input.model, engine.loaded, rendered),
    engine: describeEngine(engine),
    device: describeDevice(engine),
    plan: describePlan(config, engine.plan, history.rungs.length),
    probe: describeProbe(probe),
    rungs: describeRungs(history),
    order: describeOrders(history),
    ...describeWork(history),
    ...describeTime(history, input.idle),
    ...describeEvents(history),
    outcomes: results.countByKind(),
    coverage: describeCoverage(results),
    scores: { rows: [...input.rows], files: await digestFolder(run.dir, 'scoresDir') },
    requestFiles: await digestFolder(run.dir, 'requestsDir'),
    results: await describeResults(context, results),
    identity: await describeIdentity(context),
  };
}

async function describeIdentity({ run }: RunContext): Promise<ManifestInput['identity']> {
  const { semantic: meaning = {}, weights = {}, numeric = {} } = await readIdentity(run);
  const semantic = { ...meaning, ...weights };
  return { semantic: { digest: digestOf(semantic), fields: semantic }, numeric: { digest: digestOf(numeric), fields: numeric } };
}
