// Words that earlier lm_evals took in place of tasks to print what they have; now that is a command of its own.
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { AssayError } from '@assay/domain';
import { readEnvironment, resolveHome } from '@assay/store';

/** From the word to what `lm_eval ls` calls it. */
const LISTS: Readonly<Record<string, string>> = { list: 'tasks', list_groups: 'groups', list_subtasks: 'subtasks', list_tags: 'tags' };

/** Before anything else is asked of the command: who wants to see the tasks has named no model. */
export function refuseTaskLists(tasks: unknown, env: Readonly<Record<string, string | undefined>>): void {
  const word: string | undefined = Array.isArray(tasks) ? tasks.find((task: string) => Object.hasOwn(LISTS, task)) : undefined;
  if (word === undefined) return;
  throw new AssayError('TASK_UNKNOWN', { task: word, nearest: `To see what lm_eval has, type: ${findCommand(env)} ls ${LISTS[word]}` });
}

function findCommand(env: Readonly<Record<string, string | undefined>>): string {
  const python = readEnvironment(resolveHome(env), env)?.python;
  if (python === undefined) return 'lm_eval';
  const beside = join(dirname(python), 'lm_eval');
  return python.includes('/') && existsSync(beside) ? beside : `${python} -m lm_eval`;
}
