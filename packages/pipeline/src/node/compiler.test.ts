import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { findCompiler } from './compiler.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';

test('the compiler is what CXX names, else g++ on the PATH, and nothing else', () => {
  const dir = makeTempDir();
  for (const name of ['g++', 'clang++']) writeFileSync(join(dir, name), '', { mode: 0o755 });
  writeFileSync(join(dir, 'c++'), '', { mode: 0o644 });
  const PATH = `/no/such:${dir}`;
  expect(findCompiler({ PATH })).toBe(join(dir, 'g++'));
  expect(findCompiler({ PATH, CXX: 'clang++' })).toBe(join(dir, 'clang++'));
  expect(findCompiler({ PATH, CXX: join(dir, 'clang++') })).toBe(join(dir, 'clang++'));
  expect(findCompiler({ PATH, CXX: 'c++' })).toBeUndefined();
  expect(findCompiler({ PATH: makeTempDir() })).toBeUndefined();
  expect(findCompiler({})).toBeUndefined();
});
