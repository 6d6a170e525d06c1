import { expect, test } from 'vitest';
import { readImports, readPythonImports, vendorOf } from './imports.ts';

test('every form of import is seen, comments and strings are not', () => {
  const text = [
    "import a from './a.ts';",
    "import type { B } from '@assay/b';",
    'import {',
    '  c,',
    "} from 'c/deep';",
    "import './side-effect.ts';",
    "export * from './d.ts';",
    "export { e } from './e.ts';",
    "// import f from 'f';",
    "/* import g from 'g'; */",
    "export const text = 'not an import';",
    'const script = `',
    'import json, sys',
    'print("python")`;',
    "const h = await import('h');",
  ].join('\n');
  const found = readImports({ name: 'x.ts', text });
  expect(found.map(({ specifier }) => specifier)).toEqual(['./a.ts', '@assay/b', 'c/deep', './side-effect.ts', './d.ts', './e.ts', 'h']);
});

test('Python imports are seen at any depth', () => {
  const text = 'import os, sys\nfrom vllm.outputs import RequestOutput\nfrom .near import x\ndef f():\n    import torch as t\n';
  expect(readPythonImports({ name: 'x.py', text })).toEqual(['os', 'sys', 'vllm', 'torch']);
});

test('a vendor is the package, not the path inside it', () => {
  expect(['zod/v4', '@a/b/c', './x.ts', 'node:fs', '@assay/queue'].map(vendorOf)).toEqual(['zod', '@a/b', undefined, undefined, undefined]);
});
