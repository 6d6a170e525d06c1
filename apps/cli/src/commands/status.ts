// assay status [RUN]
import { EXIT_CODES } from '@assay/domain';
import type { DefineCommand } from '../define-command.ts';
import { RUN_ARGUMENT, takeRun } from '../named-run.ts';
import { describeRun } from '../status/describe-run.ts';
import { renderStatus } from '../status/render-status.ts';

export const define: DefineCommand = (command, around, finish) => {
  command.argument(...RUN_ARGUMENT)
    .option('--json', 'write the status to stdout as JSON')
    .action(async (name: string | undefined, options: { json?: boolean }) => {
      const status = await describeRun(await takeRun(name, around), new Date());
      around.stdout.write(options.json ? `${JSON.stringify(status, null, 2)}\n` : renderStatus(status));
      finish(EXIT_CODES.done);
    });
};
