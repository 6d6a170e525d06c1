// Preflight: everything that can be refused before a worker starts.
export { checkModel, type ModelCheck, type ModelFiles } from './model-files.ts';
export { checkOutput, type OutputQuestion } from './output-path.ts';
export type { WeightFile } from './weight-files.ts';
