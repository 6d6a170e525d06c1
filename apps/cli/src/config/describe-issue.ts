// Says what is wrong with a value in terms of what may stand there, from a zod error and the schema's own words.
import { describeFormAt } from '@assay/domain';
import type { KeyPath } from './config-file.ts';

interface Issue {
  code: string;
  path: PropertyKey[];
  message: string;
  errors?: Issue[][];
}

/** The first issue of a failed parse, at its deepest place, in words. */
export function describeIssue(error: { issues: readonly unknown[] }, values: unknown): { path: KeyPath; problem: string } {
  const issue = descend(error.issues[0] as Issue);
  const found = issue.path.reduce<unknown>((value, step) => (value as Record<PropertyKey, unknown> | undefined)?.[step], values);
  if (issue.code === 'custom') return { path: issue.path, problem: `${issue.message}, found ${showValue(found)}` };
  const form = describeFormAt(issue.path);
  return { path: issue.path, problem: `expected ${form ?? issue.message}, found ${showValue(found)}` };
}

/** In a union, the branch that got furthest is the one that was meant; the branches' own paths are relative. */
function descend(issue: Issue): Issue {
  const branches = (issue.errors ?? []).flatMap((branch) => branch.slice(0, 1));
  const meant = branches.find((branch) => branch.path.length > 0 || branch.code === 'custom');
  if (meant === undefined) return issue;
  return descend({ ...meant, path: [...issue.path, ...meant.path] });
}

function showValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return `the text "${value.length > 40 ? `${value.slice(0, 40)}…` : value}"`;
  if (Array.isArray(value)) return 'a list';
  return value !== null && typeof value === 'object' ? 'a mapping' : String(value);
}
