import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { explainHomeEntry, readEnvironment, resolveHome } from './home.ts';
import { makeTempDir } from '../../../test/support/temp-dir.ts';

describe('resolveHome', () => {
  it.each([
    [{ ASSAY_HOME: '/a', XDG_CACHE_HOME: '/x', HOME: '/h' }, '/a'],
    [{ ASSAY_HOME: '', XDG_CACHE_HOME: '/x', HOME: '/h' }, '/x/assay'],
    [{ XDG_CACHE_HOME: 'relative', HOME: '/h' }, '/h/.cache/assay'],
    [{ HOME: '/h' }, '/h/.cache/assay'],
    [{}, join(homedir(), '.cache', 'assay')],
  ])('takes %j for %s', (env, home) => expect(resolveHome(env)).toBe(home));
});

describe('explainHomeEntry', () => {
  it('knows names and their patterns, and no strangers', () => {
    expect(explainHomeEntry('models')).toBe('the demo model');
    expect(explainHomeEntry('python-0123abcd')).toContain('Python environments');
    expect(explainHomeEntry('notes.txt')).toBeUndefined();
  });
});

describe('readEnvironment', () => {
  it('reads what the set-up wrote, and ASSAY_PYTHON wins', async () => {
    const home = makeTempDir();
    await writeFile(join(home, 'environment.json'), JSON.stringify({ schema: 1, python: '/p', demoModel: '/m', redisServer: '/r', later: true }));
    expect(readEnvironment(home, {})).toEqual({ python: '/p', demoModel: '/m', redisServer: '/r' });
    expect(readEnvironment(home, { ASSAY_PYTHON: '/q' })).toEqual({ python: '/q', demoModel: '/m', redisServer: '/r' });
  });

  it('is undefined where nothing was set up, or the file is broken, and takes ASSAY_PYTHON then', async () => {
    const home = makeTempDir();
    expect(readEnvironment(home, {})).toBeUndefined();
    await writeFile(join(home, 'environment.json'), '{"schema":1,');
    expect(readEnvironment(home, {})).toBeUndefined();
    expect(readEnvironment(home, { ASSAY_PYTHON: '/q' })).toEqual({ python: '/q', demoModel: undefined, redisServer: undefined });
  });
});
