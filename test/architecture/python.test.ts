// The worker's doors: the engine's libraries only in engines/vllm*.py, the harness's only in harnesses/, and messages need neither.
import { expect, test } from 'vitest';
import { readSources } from '../support/source-tree.ts';
import { readPythonImports } from './imports.ts';

const DOORS: Record<string, RegExp> = {
  vllm: /\/engines\/vllm\w*\.py$/,
  torch: /\/engines\/vllm\w*\.py$/,
  lm_eval: /\/harnesses\//,
  datasets: /\/harnesses\//,
  transformers: /\/harnesses\//,
};

const sources = readSources(/^apps\/worker\/assay_worker\/.*\.py$/);

test('the worker imports each vendor behind its door only', () => {
  const wrong = sources.flatMap((source) =>
    readPythonImports(source).flatMap((name) => (DOORS[name] && !DOORS[name].test(source.name) ? [`${source.name} imports ${name}`] : [])));
  expect(wrong).toEqual([]);
});

test('engines and harnesses do not know each other', () => {
  const wrong = sources.filter(({ name, text }) =>
    (name.includes('/engines/') && /^\s*(from|import)\s+assay_worker\.harnesses\b/m.test(text))
    || (name.includes('/harnesses/') && /^\s*(from|import)\s+assay_worker\.engines\b/m.test(text)));
  expect(wrong.map(({ name }) => name)).toEqual([]);
});
