// Order, prefix groups, shards, memory model, plan, rungs and remaining time. Pure: no clock, no randomness, no I/O.
export { choosePlan, resolveDtype } from './choose-plan.ts';
export { engineArgsOf, engineEnvOf } from './engine-args.ts';
export { HeartbeatSums } from './heartbeat-sums.ts';
export { type ModelFacts, parseModelFacts } from './model-facts.ts';
export { digestOrder, orderRequests, orderRule } from './order.ts';
export { type GpuFacts, layOutDevices, type NodeFacts } from './plan-devices.ts';
export { readPlanWishes } from './plan-wishes.ts';
export { isPlan, kvCacheTokens, type Plan } from './plan.ts';
export { planProbeSteps } from './probe-steps.ts';
export { type EngineCounters, type RemainingEstimate, RunProgressModel } from './remaining.ts';
export { weighWork } from './request-costs.ts';
export { nextRung } from './rungs.ts';
export { headerBytesOf, parseSafetensorsHeader, type SafetensorsHeader } from './safetensors-header.ts';
export { cutShards, type Shard } from './shards.ts';
