// assay plan
import type { DefineCommand } from '../command-table.ts';
import { addRunFlags, loadConfig } from '../load-config.ts';

export const define: DefineCommand = (command, around, finish) => {
  addRunFlags(command);
  command.option('--explain', 'show every setting and where it came from, defaults included')
    .action(async (options: Record<string, unknown>) => {
      const composed = loadConfig(options, around);
      // Bad input is refused before the pipeline and its libraries are imported.
      const { planAndReport } = await import('../evaluate/plan-and-report.ts');
      finish(await planAndReport(composed, options, around));
    });
};
