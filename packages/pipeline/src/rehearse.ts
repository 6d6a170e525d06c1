// `assay plan` and `assay probe`: the first stages of a run, alone, in a folder that is removed afterwards.
import type { TimeEstimate } from '@assay/domain';
import type { NodeFacts, Plan, PlanChoice, Shard } from '@assay/planner';
import type { Rendered } from '@assay/protocol';
import { IdleClock } from './idle-clock.ts';
import { describeLeftOut, requireDevice } from './node/device-leases.ts';
import { readNodeFacts } from './node/node-facts.ts';
import { type Prepared, prepareRun } from './prepare-run.ts';
import { inOwnFolder } from './rehearsal-folder.ts';
import type { RunInput } from './run-input.ts';
import { startHarness } from './processes/harness-process.ts';
import type { ProbeReport } from './records/probe-report.ts';
import { raceEnd, startProcesses } from './run-processes.ts';
import { orderOpenRequests } from './stages/order-requests.ts';
import { planRun } from './stages/plan.ts';
import { probePlan } from './stages/probe.ts';
import { renderRequests } from './stages/render.ts';

export interface PlanReport {
  plan: Plan;
  time: TimeEstimate | undefined;
  node: NodeFacts;
  rendered: Rendered;
  shards: readonly Shard[];
}

/** Renders and plans; no engine is started and no device is needed. `onChoice` hears of the candidates also where none fits. */
export async function planEvaluation(input: RunInput, onChoice: (choice: PlanChoice) => void): Promise<PlanReport> {
  return rehearse({ ...input, node: input.node ?? await readFreeNode(input) }, async (prepared) => {
    const harness = startHarness(prepared);
    try {
      const rendered = await raceEnd(prepared.context, renderRequests(prepared.context, harness));
      const planned = await planRun(prepared.context, { node: prepared.node, model: prepared.facts, rendered, onChoice });
      const { shards } = await orderOpenRequests(prepared.context, planned);
      return { plan: planned.plan, time: planned.time, node: prepared.node, rendered, shards };
    } finally {
      await harness.handle.stop({ graceMs: 0 });
    }
  });
}

/** Renders, plans, loads and runs the worst dummy step. Throws PROBE_OOM, ENGINE_LOAD and what a run's first stages throw. */
export async function probeEvaluation(input: RunInput): Promise<ProbeReport> {
  return rehearse({ ...input, config: { ...input.config, probe: true } }, async (prepared) => {
    const processes = await startProcesses(prepared);
    try {
      const rendered = await processes.untilEnd(renderRequests(prepared.context, processes.harness));
      const planned = await planRun(prepared.context, { node: prepared.node, model: prepared.facts, rendered });
      const { report } = await processes.untilEnd(probePlan(prepared.context, processes, planned));
      return report;
    } finally {
      await processes.stop();
    }
  });
}

/** A plan takes no device from anybody, so what is free now is read and not leased. */
async function readFreeNode({ env, ui }: RunInput): Promise<NodeFacts> {
  const node = await readNodeFacts(env);
  for (const device of node.leftOut ?? []) ui.onWarning(`left out: ${describeLeftOut(device)}`);
  requireDevice(node);
  return node;
}

async function rehearse<Output>(input: RunInput, work: (prepared: Prepared) => Promise<Output>): Promise<Output> {
  return inOwnFolder(input.signals, async (dir) => {
    const prepared = await prepareRun({ ...input, config: { ...input.config, output_path: dir } }, new IdleClock(Date.now));
    try {
      await prepared.begin();
      return await work(prepared);
    } finally {
      await prepared.close();
    }
  });
}
