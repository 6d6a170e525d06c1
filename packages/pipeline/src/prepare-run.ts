// What comes before the first process: the checks that need none, the run directory with its lock, log, metrics and events.
import { AssayError, canMove, effectiveDeterminism } from '@assay/domain';
import { type ModelFacts, type NodeFacts, parseModelFacts, resolveDtype } from '@assay/planner';
import {
  type AssayEnvironment, type CodeVersion, type EventLog, listAttempts, openEventLog, openRunDirectory, type OpenRunDirectory, readCodeVersion, readEnvironment, resolveHome, selectRunSettings, writeConfig,
} from '@assay/store';
import { createLogger, Metrics, type MetricsServer, parseListenAddress, serveMetrics } from '@assay/telemetry';
import { leaveDirectory } from './early-end.ts';
import { openExperience } from './experience/experience.ts';
import type { IdleClock } from './idle-clock.ts';
import { DeviceLeases } from './node/device-leases.ts';
import { readNodeFacts } from './node/node-facts.ts';
import { checkModel, type ModelFiles } from './preflight/model-files.ts';
import { checkOutput } from './preflight/output-path.ts';
import { checkPython } from './preflight/python-environment.ts';
import { countIdle, enterState, type RunContext } from './run-context.ts';
import type { RunInput } from './run-input.ts';
import { WorkerCensus } from './worker-census.ts';

export interface Prepared {
  context: RunContext;
  code: CodeVersion;
  environment: AssayEnvironment;
  model: ModelFiles;
  facts: ModelFacts;
  /** From `begin` on without the GPUs that others use. */
  node: NodeFacts;
  census: WorkerCensus;
  env: RunInput['env'];
  /** Ends the run now, with this as the reason. */
  halt(reason: AssayError): void;
  /** Starts an epoch and leases the GPUs: from here on the run is at work. Throws DEVICES_BUSY. */
  begin(): Promise<void>;
  /** `error`: why it ended early, which decides what becomes of its directory. */
  close(error?: AssayError): Promise<void>;
}

/** Throws usage and environment errors; nothing but the run directory has been made then. */
export async function prepareRun(input: RunInput, idle: IdleClock): Promise<Prepared> {
  const { config, cwd, env, ui } = input;
  ui.onStage('check');
  // Takes a while, so it runs beside the others; what is wrong with the command is said first.
  const environmentCheck = checkEnvironment(input);
  environmentCheck.catch(() => undefined);
  const [model, code, node] = await Promise.all([checkModel({ modelArgs: config.model_args, env, cwd }), readCodeVersion(), input.node ?? readNodeFacts(env)]);
  const facts = parseModelFacts(model.configJson, model.headers, model.name);
  resolveDtype(config.model_args['dtype'], facts);
  await checkOutput({ outputPath: config.output_path, cwd });
  const { environment, packages } = await environmentCheck;
  const home = resolveHome(env);
  const metrics = new Metrics(code);
  const server = config.metrics ? await serveMetrics(metrics, parseListenAddress(config.metrics)) : undefined;
  const { run, events } = await openRun(input, model.name).catch(async (thrown: unknown) => {
    await server?.close();
    throw thrown;
  });
  const log = createLogger({ to: run.paths.log, level: 'debug', bindings: { run: run.header.id } });
  const experience = await openExperience({ home, config, model, node, packages }, log);
  const halting = new AbortController();
  const context: RunContext = {
    config, determinism: effectiveDeterminism(config), command: input.command, cwd, home, python: environment.python, run, events, experience,
    epoch: events.history.epoch, log, metrics, ui, idle,
    drain: input.signals.drain, stop: AbortSignal.any([input.signals.stop, halting.signal]),
  };
  metrics.onRender(() => countIdle(context));
  if (server) ui.onNote(`metrics on http://${server.address}/metrics`);
  const deadline = config.run_timeout === undefined ? undefined : setTimeout(
    () => halting.abort(new AssayError('RUN_TIMEOUT', { seconds: config.run_timeout as number })), config.run_timeout * 1000);
  const leases = new DeviceLeases();
  const prepared: Prepared = {
    context, code, environment, model, facts, node, env, census: new WorkerCensus(metrics),
    halt: (reason) => halting.abort(reason),
    async begin() {
      await beginEpoch(context, code);
      // Hardware that was only described is nobody's.
      if (!input.node) prepared.node = await leases.take(context, node);
    },
    close: (error) => closeRun({ context, server, deadline, leases }, error),
  };
  return prepared;
}

async function openRun({ config, cwd, startsNew = false }: RunInput, model: string): Promise<{ run: OpenRunDirectory; events: EventLog }> {
  const run = await openRunDirectory({ outputPath: config.output_path, cwd, model, settings: selectRunSettings(config), now: new Date(), startsNew });
  try {
    const attempts = await listAttempts(run.dir);
    return { run, events: await openEventLog(run.paths.events, { epochsSeen: attempts.at(-1)?.epoch ?? 0 }) };
  } catch (thrown) {
    run.close();
    throw thrown;
  }
}

async function checkEnvironment({ env }: RunInput): Promise<{ environment: AssayEnvironment; packages: Record<string, string> }> {
  const home = resolveHome(env);
  const environment = readEnvironment(home, env);
  if (!environment) throw new AssayError('PYTHON_MISSING', { problem: `${home} has no environment.json` });
  const { packages } = await checkPython(environment.python, env);
  return { environment, packages };
}

async function beginEpoch(context: RunContext, { version, commit }: CodeVersion): Promise<void> {
  const { events, run, metrics } = context;
  context.epoch = await events.beginEpoch({ pid: process.pid, version, commit, command: [...context.command] });
  await writeConfig(run, context.config);
  const found = events.history.state;
  // A start that was killed left the state it was in.
  if (!canMove('run', found, 'queued')) await enterState(context, 'interrupted', 'the previous start was killed');
  await enterState(context, 'queued');
  metrics.set('assay_run_epoch', context.epoch);
  metrics.set('assay_run_start_timestamp_seconds', Date.now() / 1000);
}

interface Closing {
  context: RunContext;
  server: MetricsServer | undefined;
  deadline: NodeJS.Timeout | undefined;
  leases: DeviceLeases;
}

async function closeRun({ context, server, deadline, leases }: Closing, error: AssayError | undefined): Promise<void> {
  clearTimeout(deadline);
  leases.release();
  await server?.close();
  await context.experience.settle();
  await context.events.close();
  if (error) await leaveDirectory(context, error);
  context.run.close();
}
