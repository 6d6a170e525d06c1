// Reads import statements out of TypeScript and Python sources. Regular expressions suffice: the linter keeps imports plain.
import path from 'node:path';
import type { SourceFile } from '../support/source-tree.ts';

interface Import {
  from: string;
  specifier: string;
}

const STATIC = /^[ \t]*(import|export)\b([\w\s{},*$]*?\bfrom\s*|\s*)['"]([^'"\n]+)['"]/gm;
const DYNAMIC = /\b(?:import|require|require\.resolve|import\.meta\.resolve)\(\s*['"]([\w@./][^'"\n]*)['"]/g;
const PYTHON = /^[ \t]*(?:from\s+([\w.]+)\s+import\b|import\s+([\w., \t]+))/gm;

export function readImports({ name, text }: SourceFile): Import[] {
  const code = text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
  const found: Import[] = [];
  for (const [, keyword = '', clause = '', specifier = ''] of code.matchAll(STATIC)) {
    if (keyword === 'export' && clause.trim() === '') continue;
    found.push({ from: name, specifier });
  }
  for (const [, specifier = ''] of code.matchAll(DYNAMIC)) found.push({ from: name, specifier });
  return found;
}

/** Top-level names of the modules a Python source imports, at any indentation. */
export function readPythonImports({ text }: SourceFile): string[] {
  const names = [...text.matchAll(PYTHON)].flatMap(([, from, plain]) =>
    from ? [from] : (plain ?? '').split(',').map((part) => part.trim().split(/\s/)[0] ?? ''));
  return [...new Set(names.filter((name) => !name.startsWith('.')).map((name) => name.split('.')[0] ?? ''))];
}

/** "packages/queue" or "apps/cli" for a file inside one, else undefined. */
export function boxOf(name: string): string | undefined {
  return /^(?:packages|apps)\/[^/]+/.exec(name)?.[0];
}

/** Where an import leads inside the clone: a file for a relative one, a box for `@assay/<name>`, undefined for anything else. */
export function resolveImport({ from, specifier }: Pick<Import, 'from' | 'specifier'>): string | undefined {
  if (specifier.startsWith('.')) return path.posix.join(path.posix.dirname(from), specifier);
  const own = /^@assay\/([^/]+)/.exec(specifier)?.[1];
  if (!own) return undefined;
  return own === 'cli' ? 'apps/cli' : `packages/${own}`;
}

/** "zod" of "zod/v4", "@scope/name" of "@scope/name/deep"; undefined for relative and built-in modules. */
export function vendorOf(specifier: string): string | undefined {
  if (/^[./#]|^node:|^@assay\//.test(specifier)) return undefined;
  return specifier.split('/').slice(0, specifier.startsWith('@') ? 2 : 1).join('/');
}
