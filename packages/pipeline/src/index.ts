// The six stages and the run's life.
export { readNodeFacts } from './node-facts.ts';
export type { RunObserver, RunProgress, RunSummary } from './observer.ts';
export { checkModel } from './preflight/model-files.ts';
export { planEvaluation, type PlanReport, probeEvaluation } from './rehearse.ts';
export { runEvaluation } from './run-evaluation.ts';
export type { RunInput } from './run-input.ts';
