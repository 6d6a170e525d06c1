// docs/cli/*.txt: what --help prints, kept so that a change of a flag shows in review.
import { COMMANDS } from '../command-table.ts';
import { runCommand } from '../run-command.ts';

/** File name in docs/cli → text. */
export async function buildHelpPages(): Promise<Record<string, string>> {
  const pages: Record<string, string> = { 'assay.txt': await captureHelp([]) };
  for (const name of Object.keys(COMMANDS)) pages[`assay-${name}.txt`] = await captureHelp([name]);
  return pages;
}

async function captureHelp(command: string[]): Promise<string> {
  let text = '';
  const sink = { write: (part: string) => { text += part; } };
  await runCommand({ argv: [...command, '--help'], cwd: '/', env: {}, stdout: sink, stderr: sink });
  return text;
}
