// Loads the model, runs the worst dummy step of the run and writes the verdict of every plan tried.
import { EXIT_CODES, redactSecrets } from '@assay/domain';
import { probeEvaluation } from '@assay/pipeline';
import { renderProbe } from '@assay/reports';
import type { Composed } from '../config/compose.ts';
import type { Surroundings } from '../surroundings.ts';
import { startEvaluation } from './start.ts';

export async function probeAndReport(composed: Composed, options: { json?: boolean }, around: Surroundings): Promise<number> {
  const report = redactSecrets(await startEvaluation(composed, around, { outcome: 'probe', work: probeEvaluation }));
  around.stdout.write(options.json ? `${JSON.stringify(report, null, 2)}\n` : `\n${renderProbe(report)}\n`);
  return EXIT_CODES.done;
}
