// A file of a run that was changed after it was written, and what can be done about each.
import { AssayError } from './errors.ts';

/** By the end of the path; the first that matches. What may be deleted is built again by the same command. */
const REMEDIES: readonly (readonly [RegExp, string])[] = [
  [/\/results\/[^/]+$/, 'Restore it, or delete it: the same command then runs its requests again.'],
  [/\/manifest\.json$/, 'Restore it, or delete it: the same command then seals the run again.'],
  [/\/(plan\.json|requests\/[^/]+)$/, 'Restore it, or delete it: the same command then makes it again.'],
];
const NO_REPLACEMENT = 'Restore it from a copy; nothing else holds what it said. Without one, choose another --output_path.';

/** RESULTS_DAMAGED for a place in a file, which is named by its whole path; `line` counts from 1, undefined where there are no lines. */
export function describeDamage(file: string, line: number | undefined, problem: string): AssayError {
  const [, instead = NO_REPLACEMENT] = REMEDIES.find(([end]) => end.test(file)) ?? [];
  const place = line === undefined ? { place: file } : { place: `${file}:${line}`, line };
  return new AssayError('RESULTS_DAMAGED', { file, ...place, problem, instead });
}
