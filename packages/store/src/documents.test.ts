import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { manifestSchema } from '@assay/protocol';
import { describe, expect, it } from 'vitest';
import { cloneDir } from '../../../test/support/requirements.ts';
import { HOME_ENTRIES } from './home.ts';
import { KEYS_OUTSIDE_IDENTITY } from './identity.ts';
import { EVENT_TYPES } from './run-events.ts';
import { RUN_FILES } from './run-paths.ts';

const page = readFileSync(join(cloneDir, 'docs', 'run-directory.md'), 'utf8');

/** First and second cells of the table rows under a heading; a first cell may hold several names. */
function readRows(heading: string): { names: string[]; text: string }[] {
  const section = page.split(/^## /m).find((part) => part.startsWith(`${heading}\n`)) ?? '';
  return [...section.matchAll(/^\| (`[^|]*) \| ([^|]*) \|$/gm)].map(([, first = '', text = '']) => ({ names: [...first.matchAll(/`([^`]+)`/g)].map(([, name]) => name ?? ''), text }));
}

const namesUnder = (heading: string) => readRows(heading).flatMap(({ names }) => names);

describe('docs/run-directory.md', () => {
  it('lists every file of a run directory and no other', () => {
    const folders = new Set<string>([RUN_FILES.resultsDir, RUN_FILES.scoresDir, RUN_FILES.logsDir]);
    const expected = Object.values(RUN_FILES).filter((file) => file !== RUN_FILES.requestsDir).map((file) => (folders.has(file) ? `${file}/` : file));
    expect(namesUnder('Files').sort()).toEqual(expected.sort());
  });

  it('lists every event and no other', () => {
    expect(namesUnder('Events').sort()).toEqual([...EVENT_TYPES].sort());
  });

  it('has every section of the manifest', () => {
    const sections = readRows('The manifest').flatMap(({ names }) => names);
    expect(sections).toEqual(expect.arrayContaining(Object.keys(manifestSchema.shape)));
  });

  it('repeats the table of the home folder', () => {
    expect(Object.fromEntries(readRows('State outside of a run').map(({ names, text }) => [names[0], text]))).toEqual(HOME_ENTRIES);
  });

  it('names every setting that may change between two starts', () => {
    const section = page.split(/^## /m).find((part) => part.startsWith('Where it is')) ?? '';
    for (const key of KEYS_OUTSIDE_IDENTITY) expect(section).toContain(`\`${key}\``);
  });
});
