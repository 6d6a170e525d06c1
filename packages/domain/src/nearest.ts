// The nearest known names to a mistyped one, for the second line of an error.

/** Edits (insert, delete, replace, swap of neighbours) that turn one text into the other. */
export function countEdits(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, column) => column);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let edits = Math.min(at(last, column) + 1, at(current, column - 1) + 1, at(last, column - 1) + (same ? 0 : 1));
      const isSwap = row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (isSwap) edits = Math.min(edits, at(beforeLast, column - 2) + 1);
      current.push(edits);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, right.length);
}

const at = (row: number[], column: number): number => row[column] ?? 0;

const simplify = (name: string): string => name.toLowerCase().replaceAll('-', '_');

/** Up to `count` of `known`, nearest first: few edits away, or one name contains the other. */
export function findNearest(name: string, known: Iterable<string>, count = 3): string[] {
  return rankNear(name, known, (wanted, other) => {
    const edits = countEdits(wanted, other);
    const contains = Math.min(wanted.length, other.length) >= 4 && (wanted.includes(other) || other.includes(wanted));
    if (contains) return edits / 2;
    return edits <= allowedEdits(wanted.length) ? edits : undefined;
  }).slice(0, count);
}

/**
 * The same for files and folders, whose names are anybody's and not of a list: only slips of the pen and names that begin with the
 * other. "nope" is near "home" by its edits, and nobody means it.
 */
export function findNearPaths(name: string, known: Iterable<string>): string[] {
  return rankNear(name, known, (wanted, other) => {
    const edits = countEdits(wanted, other);
    const begins = Math.min(wanted.length, other.length) >= 4 && (wanted.startsWith(other) || other.startsWith(wanted));
    return begins || edits <= allowedSlips(wanted.length) ? edits : undefined;
  }).slice(0, 3);
}

/** `judge`: how far away one is, the least first; undefined for one that is not near. */
function rankNear(name: string, known: Iterable<string>, judge: (wanted: string, other: string) => number | undefined): string[] {
  const wanted = simplify(name);
  const scored: { candidate: string; edits: number }[] = [];
  for (const candidate of new Set(known)) {
    const edits = judge(wanted, simplify(candidate));
    if (edits !== undefined) scored.push({ candidate, edits });
  }
  scored.sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1));
  return scored.map((entry) => entry.candidate);
}

const allowedEdits = (length: number): number => (length < 4 ? 1 : Math.max(2, Math.floor(length / 3)));

const allowedSlips = (length: number): number => Math.min(3, Math.max(1, Math.floor(length / 4)));

/** "Did you mean a, b or c?", or `otherwise` where nothing is near. */
export function suggestNearest(name: string, known: Iterable<string>, otherwise: string): string {
  const names = findNearest(name, known);
  if (names.length === 0) return otherwise;
  const last = names.at(-1);
  return `Did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`;
}
