// Reads which names a TypeScript source exports, and which it takes from other files. As plain as the imports of this code are.
import type { SourceFile } from '../support/source-tree.ts';
import { resolveImport } from './imports.ts';

/** A name that a file takes from another; "*" is every name of it. */
interface TakenName {
  /** File that has the name. */
  file: string;
  name: string;
  by: string;
}

const DECLARED = /^export (?:abstract |async )*(?:function\*?|class|const|let|interface|type) (\w+)/gm;
const LISTED = /^export (?:type )?\{([^}]*)\}(?: from '([^']+)')?;/gm;
const IMPORTED = /^[ \t]*import (?:type )?(?:\{([^}]*)\}|\* as \w+) from '([^']+)'/gm;
const DYNAMIC = /(?:const \{([^}]*)\} = await )?\bimport\(\s*'([^']+)'/g;

export function readExports({ text }: SourceFile): string[] {
  const declared = [...text.matchAll(DECLARED)].map(([, name = '']) => name);
  const listed = [...text.matchAll(LISTED)].flatMap(([, list = '']) => splitNames(list).map(({ outer }) => outer));
  return [...declared, ...listed];
}

/** Imports and re-exports alike. */
export function readTakenNames({ name: by, text }: SourceFile): TakenName[] {
  const clauses = [...text.matchAll(LISTED), ...text.matchAll(IMPORTED), ...text.matchAll(DYNAMIC)];
  return clauses.flatMap(([, list, specifier]) => {
    const target = specifier === undefined ? undefined : resolveImport({ from: by, specifier });
    if (target === undefined) return [];
    const file = specifier?.startsWith('@assay/') ? `${target}/src/index.ts` : target;
    return list === undefined ? [{ file, name: '*', by }] : splitNames(list).map(({ inner }) => ({ file, name: inner, by }));
  });
}

/** "type a, b as c, d: e": the name there and the name here. */
function splitNames(list: string): { inner: string; outer: string }[] {
  return list.split(',').map((part) => part.trim().replace(/^type /, '')).filter(Boolean).map((part) => {
    const [inner = '', outer = inner] = part.split(/ as |: /);
    return { inner, outer };
  });
}
