// assay results RUN
import { EXIT_CODES } from '@assay/domain';
import { findRun } from '@assay/store';
import type { DefineCommand } from '../command-table.ts';

export const define: DefineCommand = (command, { cwd, stdout }, finish) => {
  command.argument('<run>', 'a run directory, or the id of a run in runs/')
    .option('--json', 'write the rows to stdout as JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      const { readScores } = await import('../results/read-scores.ts');
      const scores = await readScores(await findRun(name, cwd));
      stdout.write(options.json ? `${JSON.stringify(scores, null, 2)}\n` : JSON.stringify(scores.rows));
      finish(EXIT_CODES.done);
    });
};
