// A file of a run that was changed after it was written, and what can be done about each.
import { AssayError } from './errors.ts';

/** By the end of the path; the first that matches. What may be deleted is built again by the same command. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/\/results\/[^/]+$/, 'Restore it, or delete it: the same command then runs its requests again.'],
  [/\/manifest\.json$/, 'Restore it, or delete it: the same command then seals the run again.'],
  [/\/(plan\.json|requests\/[^/]+)$/, 'Restore it, or delete it: the same command then makes it again.'],
];
const NO_REPLACEMENT = 'Restore it from a copy; nothing else holds what it said. Without one, choose another --output_path.';

/** RESULTS_DAMAGED for a place in a file; `line` counts from 1. */
export function describeDamage(file: string, line: number, problem: string): AssayError {
  const [, instead] = REMEDIES.find(([end]) => end.test(file)) ?? [];
  return new AssayError('RESULTS_DAMAGED', { file, line, problem, instead: instead ?? NO_REPLACEMENT });
}
