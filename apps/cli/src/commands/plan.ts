// assay plan
import type { DefineCommand } from '../define-command.ts';
import { addRunFlags, loadConfig } from '../load-config.ts';

export const define: DefineCommand = (command, around, finish) => {
  addRunFlags(command);
  command.option('--explain', 'show every candidate layout, its memory and time, and why it lost; and every setting with where it came from')
    .option('--devices <N>x<KIND>', 'plan for hardware that is not here: 8xH100-80GB, cpu:16, cpu:16:64GiB or a node.json')
    .action(async (options: Record<string, unknown>) => {
      const { devices, ...others } = options;
      const composed = loadConfig(others, around);
      // Bad input is refused before the pipeline and its libraries are imported.
      const { readDevices } = await import('../evaluate/read-devices.ts');
      const node = typeof devices === 'string' ? readDevices(devices, around.cwd) : undefined;
      const { planAndReport } = await import('../evaluate/plan-and-report.ts');
      finish(await planAndReport(composed, { json: options['json'] === true, explain: options['explain'] === true, node }, around));
    });
};
