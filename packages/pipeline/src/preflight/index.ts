// Preflight: everything that can be refused before a worker starts.
export { checkDiskNeed, estimateDiskNeed } from './disk-need.ts';
export { checkModel, type ModelCheck, type ModelFiles } from './model-files.ts';
export { checkOutput, type OutputQuestion } from './output-path.ts';
export type { WeightFile } from './weight-files.ts';
