// The six stages and the run's life.
export { type IdleCause, IDLE_CAUSES, type IdleShare } from './idle-clock.ts';
export { readNodeFacts } from './node-facts.ts';
export type { RunObserver, RunProgress, RunSummary, TaskCoverage } from './observer.ts';
export { checkModel, checkOutput, type ModelCheck, type ModelFiles, type OutputQuestion, type WeightFile } from './preflight/index.ts';
export { planEvaluation, type PlanReport, probeEvaluation } from './rehearse.ts';
export { runEvaluation } from './run-evaluation.ts';
export type { RunInput, RunSignals } from './run-input.ts';
export type { ProbeReport, ProbeRung } from './stages/probe-report.ts';
