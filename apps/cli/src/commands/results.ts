// assay results RUN
import { EXIT_CODES } from '@assay/domain';
import { renderResultsTable } from '@assay/reports';
import { findRun } from '@assay/store';
import type { DefineCommand } from '../command-table.ts';
import { readScores } from '../results/read-scores.ts';

export const define: DefineCommand = (command, { cwd, stdout, stderr }, finish) => {
  command.argument('<run>', 'a run directory, or the id of a run in runs/')
    .option('--json', 'write the rows to stdout as JSON')
    .action(async (name: string, options: { json?: boolean }) => {
      const scores = await readScores(await findRun(name, cwd));
      stdout.write(options.json ? `${JSON.stringify(scores, null, 2)}\n` : `${renderResultsTable(scores)}\n`);
      if (!scores.sealed) stderr.write('assay: this run is not sealed: these scores are not final\nSee `assay status`; the same command completes it.\n');
      finish(EXIT_CODES.done);
    });
};
