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
  const wanted = simplify(name);
  const scored: { candidate: string; edits: number }[] = [];
  for (const candidate of new Set(known)) {
    const other = simplify(candidate);
    const edits = countEdits(wanted, other);
    const contains = Math.min(wanted.length, other.length) >= 4 && (wanted.includes(other) || other.includes(wanted));
    const isNear = contains || edits <= allowedEdits(wanted.length);
    if (isNear) scored.push({ candidate, edits: contains ? edits / 2 : edits });
  }
  scored.sort((a, b) => a.edits - b.edits || (a.candidate < b.candidate ? -1 : 1));
  return scored.slice(0, count).map((entry) => entry.candidate);
}

const allowedEdits = (length: number): number => (length < 4 ? 1 : Math.max(2, Math.floor(length / 3)));

/** "Did you mean a, b or c?", or `otherwise` where nothing is near. */
export function suggestNearest(name: string, known: Iterable<string>, otherwise: string): string {
  const names = findNearest(name, known);
  if (names.length === 0) return otherwise;
  const last = names.at(-1);
  return `Did you mean ${names.length === 1 ? last : `${names.slice(0, -1).join(', ')} or ${last}`}?`;
}
