// assay results [RUN]
import { EXIT_CODES } from '@assay/domain';
import { renderResultsTable } from '@assay/reports';
import type { DefineCommand } from '../define-command.ts';
import { RUN_ARGUMENT, takeRun } from '../named-run.ts';
import { readScores } from '../results/read-scores.ts';

export const define: DefineCommand = (command, around, finish) => {
  const { stdout, stderr } = around;
  command.argument(...RUN_ARGUMENT)
    .option('--json', 'write the rows to stdout as JSON')
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const scores = await readScores(await takeRun(name, around));
      stdout.write(options.json ? `${JSON.stringify(scores, null, 2)}\n` : `${renderResultsTable(scores)}\n`);
      if (!scores.sealed) stderr.write('note: this run is not sealed, so these scores are not final; `assay status` shows how it stands\n');
      finish(EXIT_CODES.done);
    });
};
