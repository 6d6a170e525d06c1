// assay probe
import type { DefineCommand } from '../define-command.ts';
import { addRunFlags, loadConfig } from '../load-config.ts';

export const define: DefineCommand = (command, around, finish) => {
  addRunFlags(command);
  command.action(async (options: Record<string, unknown>) => {
    const composed = loadConfig(options, around);
    // Bad input is refused before the pipeline and its libraries are imported.
    const { probeAndReport } = await import('../evaluate/probe-and-report.ts');
    finish(await probeAndReport(composed, options, around));
  });
};
