// How the model lay on the devices and in which order it was asked: the plan in force, every rung tried or taken, the orders.
import type { RunConfig } from '@assay/domain';
import type { Plan } from '@assay/planner';
import type { ManifestInput } from '@assay/protocol';
import type { RunHistory } from '@assay/store';
import type { ProbeReport } from '../records/probe-report.ts';

export function describePlan(config: RunConfig, plan: Plan, rung: number): ManifestInput['plan'] {
  const { data, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, maxModelLen } = plan;
  return { asked: config.plan, data, tensor, pipeline, maxNumSeqs, maxNumBatchedTokens, maxModelLen, rung, reasons: plan.why, memoryTerms: plan.memory.terms };
}

export function describeProbe({ rungs, seconds }: ProbeReport): ManifestInput['probe'] {
  return {
    seconds,
    rungs: rungs.map(({ rung, verdict, plan, seconds: took, predictedBytes, measuredBytes, failure, failed, remembered }) => ({
      rung, verdict, plan: describePlanBriefly(plan), seconds: took, predictedBytes, measuredBytes: measuredBytes ?? null, failure: failure?.message ?? null,
      ...(failed ? { failed: failed.name } : {}),
      ...(remembered ? { remembered } : {}),
    })),
  };
}

function describePlanBriefly({ memory, why, tensorSizes, rungRoom, ...plan }: Plan): Record<string, unknown> {
  return plan;
}

export function describeRungs({ rungs }: RunHistory): ManifestInput['rungs'] {
  return rungs.map(({ epoch, from, to, why, shard }) => ({ epoch, from, to, why, shard: shard ?? null }));
}

/** One order for each epoch. */
export function describeOrders({ orders }: RunHistory): ManifestInput['order'] {
  return orders.map(({ epoch, rule, digest, rows, shards, expectedNewTokens }) => ({ epoch, rule, digest, rows, shards, ...(expectedNewTokens ? { expectedNewTokens } : {}) }));
}
