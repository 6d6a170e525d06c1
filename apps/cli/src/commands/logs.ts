// assay logs [RUN]
import { AssayError, EXIT_CODES } from '@assay/domain';
import { foldEvents, readEvents, type RunDirectory } from '@assay/store';
import type { DefineCommand } from '../define-command.ts';
import { findLogFile, listWorkerLogs } from '../logs/log-files.ts';
import { renderLogLine } from '../logs/log-lines.ts';
import { tailFile } from '../logs/tail-file.ts';
import { RUN_ARGUMENT, takeRun } from '../named-run.ts';
import { isAtWork, listLiveProcesses } from '../status/live-processes.ts';

interface Options {
  worker?: string;
  lines: string;
  follow?: boolean;
  json?: boolean;
}

export const define: DefineCommand = (command, around, finish) => {
  const { stdout, stderr } = around;
  command.argument(...RUN_ARGUMENT)
    .option('--worker <NAME>', 'what this worker printed, instead of the run\'s own log')
    .option('--lines <N>', 'how many lines from the end', '100')
    .option('--follow', 'go on showing lines until the run ends')
    .option('--json', 'write the run\'s log as it is: one JSON object a line')
    .action(async (name: string | undefined, options: Options) => {
      const run = await takeRun(name, around);
      const log = await findLogFile(run, options.worker);
      if (options.worker === undefined && !options.json) stderr.write(`workers: ${(await listWorkerLogs(run)).join(', ') || 'none yet'} (--worker NAME)\n`);
      const follow = options.follow ? { isOver: () => isOver(run) } : {};
      for await (const line of tailFile(log.path, { lines: parseLines(options.lines), ...follow })) {
        stdout.write(`${log.isStructured && !options.json ? renderLogLine(line) : line}\n`);
      }
      finish(EXIT_CODES.done);
    });
};

function parseLines(text: string): number {
  if (/^[1-9]\d*$/.test(text)) return Number(text);
  throw new AssayError('CONFIG_VALUE', { place: 'command line', key: '--lines', problem: `expected a whole number above 0, found "${text}"` });
}

async function isOver(run: RunDirectory): Promise<boolean> {
  const { events } = await readEvents(run.paths.events);
  return !isAtWork(listLiveProcesses(events, foldEvents(events)));
}
