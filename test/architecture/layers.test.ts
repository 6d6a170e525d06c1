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

test('no module is part of a cycle, not even of types', () => {
  expect(findCycle(imports.flatMap(readEdge))).toEqual([]);
});

test('the folders inside a package form no cycle; what lies beside them is a place of its own', () => {
  const own = imports.filter(({ from, specifier }) => specifier.startsWith('.') && !isTest(from));
  const places = own.flatMap(readEdge).map(([from, to]) => [placeOf(from), placeOf(to)] as const);
  expect(findCycle(places.filter(([from, to]) => from !== to))).toEqual([]);
});

test('a cycle is found wherever it begins', () => {
  expect(findCycle([['a', 'b'], ['b', 'c'], ['c', 'b']])).toEqual(['b', 'c', 'b']);
  expect(findCycle([['a', 'b'], ['a', 'c'], ['b', 'd'], ['c', 'd']])).toEqual([]);
});

type Edge = readonly [from: string, to: string];

function readEdge(found: (typeof imports)[number]): Edge[] {
  const target = resolveImport(found);
  if (!target) return [];
  return [[found.from, found.specifier.startsWith('.') ? target : `${target}/src/index.ts`]];
}

/** "packages/pipeline/src/agent" for a file in that folder, the file itself for one right in src. */
function placeOf(name: string): string {
  return /^[^/]+\/[^/]+\/src\/[^/]+/.exec(name)?.[0] ?? name;
}

function findCycle(edges: readonly Edge[]): string[] {
  const next = new Map<string, string[]>();
  for (const [from, to] of edges) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const visit = (place: string, trail: string[]): string[] => {
    if (trail.includes(place)) return [...trail.slice(trail.indexOf(place)), place];
    if (done.has(place)) return [];
    for (const other of next.get(place) ?? []) {
      const cycle = visit(other, [...trail, place]);
      if (cycle.length > 0) return cycle;
    }
    done.add(place);
    return [];
  };
  return [...next.keys()].map((place) => visit(place, [])).find((cycle) => cycle.length > 0) ?? [];
}
