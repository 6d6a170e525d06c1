// The six stages and the run's life, and what the doctor asks of the machine they need.
export { type Candidate, describeDevices, imagineNode, type NodeFacts, parseNodeFacts, type PlanChoice } from '@assay/planner';
export { examineRedis, type RedisFacts } from '@assay/queue';
export { describeLeftOut } from './node/device-leases.ts';
export { readNodeFacts } from './node/node-facts.ts';
export type { RunObserver, RunProgress, RunSummary } from './observer.ts';
export { checkModel } from './preflight/model-files.ts';
export { examinePython, NEEDED_PACKAGES, type PythonFacts } from './preflight/python-environment.ts';
export { planEvaluation, type PlanReport, probeEvaluation } from './rehearse.ts';
export { runEvaluation } from './run-evaluation.ts';
export type { RunInput } from './run-input.ts';
