// The picture in docs/architecture.md against real imports: a box imports the boxes below it, never one beside or above.
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { isTest, listFiles, readFile, readSources } from '../support/source-tree.ts';
import { boxOf, readImports, resolveImport, vendorOf } from './imports.ts';

const LAYERS = [
  ['packages/domain'],
  ['packages/protocol'],
  ['packages/planner', 'packages/reports', 'packages/queue', 'packages/store', 'packages/workers', 'packages/telemetry'],
  ['packages/pipeline'],
  ['apps/cli'],
];

/** One door per vendor. Those that are not here may be used by any package that declares them. */
const DOORS: Record<string, string> = {
  bullmq: 'packages/queue',
  ioredis: 'packages/queue',
  pino: 'packages/telemetry',
  'prom-client': 'packages/telemetry',
  execa: 'packages/workers',
  commander: 'apps/cli',
};

const sources = readSources(/^(packages|apps)\/[^/]+\/.*\.ts$/);
const imports = sources.flatMap(readImports);
const boxes = LAYERS.flat();
const layerOf = (box: string): number => LAYERS.findIndex((layer) => layer.includes(box));

test('every package and app has a place in the picture', () => {
  const found = listFiles().filter((name) => /^(packages|apps)\/[^/]+\/package\.json$/.test(name)).map(boxOf);
  expect(found.toSorted()).toEqual(boxes.toSorted());
});

test('a box imports only boxes below it', () => {
  const wrong = imports.flatMap(({ from, specifier }) => {
    const own = boxOf(from) ?? '';
    const other = specifier.startsWith('@assay/') ? resolveImport({ from, specifier }) ?? '' : own;
    return other === own || layerOf(other) < layerOf(own) ? [] : [`${from} imports ${specifier}`];
  });
  expect(wrong).toEqual([]);
});

test('a package is entered by its one door only', () => {
  const deep = imports.filter(({ specifier }) => /^@assay\/[^/]+\//.test(specifier));
  const across = imports.filter(({ from, specifier }) => specifier.startsWith('.') && !isTest(from)
    && boxOf(path.posix.join(path.posix.dirname(from), specifier)) !== boxOf(from));
  expect([...deep, ...across].map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([]);
});

describe.each(boxes)('%s', (box) => {
  const manifest = JSON.parse(readFile(`${box}/package.json`).text);

  test('exports only its index', () => {
    expect(Object.keys(manifest.exports ?? {})).toEqual(box.startsWith('apps/') ? [] : ['.']);
  });

  test('declares exactly the packages it imports', () => {
    const own = imports.filter(({ from }) => boxOf(from) === box);
    const used = (isInTest: boolean) => new Set(own.filter(({ from }) => isTest(from) === isInTest).map(({ specifier }) =>
      /^@assay\/[^/]+/.exec(specifier)?.[0] ?? vendorOf(specifier)).filter((name) => name !== undefined));
    const declared = new Set(Object.keys(manifest.dependencies ?? {}));
    const undeclared = [...used(false)].filter((name) => !declared.has(name));
    const unused = [...declared].filter((name) => !used(false).has(name) && !used(true).has(name));
    expect({ undeclared, unused }).toEqual({ undeclared: [], unused: [] });
  });
});

test('each vendor has one door', () => {
  const wrong = imports.filter(({ from, specifier }) => {
    const door = DOORS[vendorOf(specifier) ?? ''];
    return door !== undefined && boxOf(from) !== door;
  });
  expect(wrong.map(({ from, specifier }) => `${from} imports ${specifier}`)).toEqual([]);
});

test('processes that live on are started by packages/workers, and by packages/queue for the embedded Redis; others only ask a program', () => {
  const starters = sources.filter(({ name, text }) => !isTest(name) && /\b(spawn|fork|exec|spawnSync)\b[^;]*from 'node:child_process'/.test(text));
  expect(starters.map(({ name }) => name).filter((name) => !/^packages\/(workers|queue)\//.test(name))).toEqual([]);
});

test('no module is part of a cycle', () => {
  expect(findCycle()).toEqual([]);
});

function findCycle(): string[] {
  const edges = new Map<string, string[]>();
  for (const found of imports.filter(({ isTypeOnly }) => !isTypeOnly)) {
    const target = resolveImport(found);
    if (!target) continue;
    const file = found.specifier.startsWith('.') ? target : `${target}/src/index.ts`;
    edges.set(found.from, [...(edges.get(found.from) ?? []), file]);
  }
  const done = new Set<string>();
  const visit = (file: string, trail: string[]): string[] => {
    if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of edges.get(file) ?? []) {
      const cycle = visit(next, [...trail, file]);
      if (cycle.length > 0) return cycle;
    }
    done.add(file);
    return [];
  };
  return [...edges.keys()].map((file) => visit(file, [])).find((cycle) => cycle.length > 0) ?? [];
}
