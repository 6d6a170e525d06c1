// Groups of requests: those of one kind that share a number. Groups are numbered densely, ascending by (kind, number), so that
// everything known of a group is one typed array.
import { sortStable } from './radix-sort.ts';

export interface RequestGroups {
  count: number;
  /** The group of each row; rows outside the selection are left at 0. */
  groupOf: Uint32Array;
  /** One row of each group. */
  firstRow: Uint32Array;
}

/** Groups `rows` by `kindOf` and `numberOf`. */
export function groupRequests(rows: Uint32Array, kindOf: Uint32Array, numberOf: Uint32Array): RequestGroups {
  const sorted = sortStable(sortStable(rows, numberOf), kindOf);
  const groupOf = new Uint32Array(kindOf.length);
  const firstRow = new Uint32Array(rows.length);
  let count = 0;
  let previous = -1;
  for (const row of sorted) {
    const isNew = previous < 0 || kindOf[row] !== kindOf[previous] || numberOf[row] !== numberOf[previous];
    if (isNew) {
      firstRow[count] = row;
      count += 1;
    }
    groupOf[row] = count - 1;
    previous = row;
  }
  return { count, groupOf, firstRow: firstRow.subarray(0, count) };
}

/** The longest member of each group, in tokens. */
export function longestOfGroups(rows: Uint32Array, groups: RequestGroups, lengths: Uint32Array): Uint32Array {
  const longest = new Uint32Array(groups.count);
  for (const row of rows) {
    const group = groups.groupOf[row]!;
    if (lengths[row]! > longest[group]!) longest[group] = lengths[row]!;
  }
  return longest;
}
