// assay status RUN
import { EXIT_CODES } from '@assay/domain';
import { findRun } from '@assay/store';
import type { DefineCommand } from '../command-table.ts';
import { describeRun } from '../status/describe-run.ts';
import { renderStatus } from '../status/render-status.ts';

export const define: DefineCommand = (command, { cwd, stdout }, finish) => {
  command.argument('<run>', 'a run directory, or the id of a run in runs/')
    .option('--json', 'write the status to stdout as JSON')
    .action(async (run: string, options: { json?: boolean }) => {
      const status = await describeRun(await findRun(run, cwd), new Date());
      stdout.write(options.json ? `${JSON.stringify(status, null, 2)}\n` : renderStatus(status));
      finish(EXIT_CODES.done);
    });
};
