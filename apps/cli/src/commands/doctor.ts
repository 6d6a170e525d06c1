// assay doctor
import { EXIT_CODES } from '@assay/domain';
import type { DefineCommand } from '../define-command.ts';
import { renderDoctor } from '../doctor/render-doctor.ts';

export const define: DefineCommand = (command, around, finish) => {
  command.option('--json', 'write the findings to stdout as JSON')
    .action(async (options: { json?: boolean }) => {
      const { examine } = await import('../doctor/examine.ts');
      const report = await examine(around);
      around.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : renderDoctor(report));
      finish(report.usable ? EXIT_CODES.done : EXIT_CODES.environment);
    });
};
