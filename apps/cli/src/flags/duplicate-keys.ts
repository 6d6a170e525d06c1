// Finds a key that a mapping holds twice, at any depth. YAML and JSON parsers keep the last one without a word.
import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml';

interface DuplicateKey {
  key: string;
  /** Offsets of both keys in the text. */
  first: number;
  second: number;
}

export function findDuplicateKey(node: unknown): DuplicateKey | undefined {
  if (isSeq(node)) return findFirst(node.items as Node[]);
  if (!isMap(node)) return undefined;
  const seen = new Map<string, number>();
  for (const pair of node.items as Pair<Node, Node>[]) {
    if (!isScalar(pair.key)) continue;
    const key = String(pair.key.value);
    const offset = pair.key.range?.[0] ?? 0;
    const first = seen.get(key);
    // `<<` may stand twice: each merges another mapping.
    if (first !== undefined && key !== '<<') return { key, first, second: offset };
    seen.set(key, offset);
  }
  return findFirst(node.items.map((pair) => pair.value));
}

function findFirst(nodes: unknown[]): DuplicateKey | undefined {
  for (const node of nodes) {
    const found = findDuplicateKey(node);
    if (found) return found;
  }
  return undefined;
}
