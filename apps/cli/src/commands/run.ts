// assay run
import type { DefineCommand } from '../define-command.ts';
import { addRunFlags, loadConfig } from '../load-config.ts';

export const define: DefineCommand = (command, around, finish) => {
  command.addHelpText('after', '\nFlags are lm_eval\'s, with their meaning; docs/lm-eval-flags.md lists every one. Dashes and underscores are the same in flags.');
  addRunFlags(command);
  command.action(async (options: Record<string, unknown>) => {
    const composed = loadConfig(options, around);
    // Bad input is refused before the pipeline and its libraries are imported.
    const { runAndReport } = await import('../evaluate/run-and-report.ts');
    finish(await runAndReport(composed, options, around));
  });
};
