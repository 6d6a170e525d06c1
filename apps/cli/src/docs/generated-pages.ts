// Every document that is made from code, by its path in the repository.
import { buildConfigPage } from './config-page.ts';
import { buildFlagPage } from './flag-page.ts';
import { buildHelpPages } from './help-pages.ts';

export async function buildGeneratedPages(): Promise<Record<string, string>> {
  const help = Object.entries(await buildHelpPages()).map(([name, text]) => [`docs/cli/${name}`, text] as const);
  return { 'docs/lm-eval-flags.md': buildFlagPage(), 'docs/configuration.md': buildConfigPage(), ...Object.fromEntries(help) };
}
