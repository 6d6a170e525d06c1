// The README's own commands, as they stand: what a person copies first has to work.
import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { demoModel } from '../support/assay-world.ts';
import { cloneDir, requireOrSkip } from '../support/requirements.ts';
import { readFile } from '../support/source-tree.ts';

requireOrSkip('the demo model', demoModel !== undefined, '`npm run setup` makes it');

const block = /```\n(model=[^`]*)```/.exec(readFile('README.md').text)?.[1] ?? '';
const [assignment = '', ...commands] = block.trimEnd().split('\n');
const [plan = '', run = '', results = ''] = commands;

test('the README shows a plan, the same as a run, and its results', () => {
  expect(plan).toMatch(/^\.\/assay plan .*pretrained=\$model/);
  expect(run).toBe(`${plan.replace(' plan ', ' run ')} --output_path runs/first`);
  expect(results).toBe('./assay results runs/first');
});

// The engine itself is the demo's test's; everything before it is the same for a run.
test('the README\'s first commands plan the demo\'s model as they stand', () => {
  const { status, stdout, stderr } = spawnSync('sh', ['-c', `${assignment}\n${plan}`], { cwd: cloneDir, encoding: 'utf8' });
  expect({ status, stderr }).toMatchObject({ status: 0 });
  expect(stdout).toMatch(/^plan {4}\d+ worker/m);
});
