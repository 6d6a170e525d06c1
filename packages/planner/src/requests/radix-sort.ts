// A stable sort of row numbers by one u32 key a row: least significant key first, it sorts by any number of keys in linear
// time and without an object per request.

const DIGIT_BITS = 11;
const DIGITS = 1 << DIGIT_BITS;

/** Sorts `rows` by `keyOf[row]` ascending and keeps the order of equal keys. Returns a new array. */
export function sortStable(rows: Uint32Array, keyOf: Uint32Array): Uint32Array {
  let from = rows;
  for (const shift of [0, DIGIT_BITS, 2 * DIGIT_BITS]) from = sortByDigit(from, keyOf, shift);
  return from;
}

function sortByDigit(rows: Uint32Array, keyOf: Uint32Array, shift: number): Uint32Array {
  const starts = new Uint32Array(DIGITS + 1);
  for (const row of rows) starts[digitOf(keyOf, row, shift) + 1]! += 1;
  if (rows.length > 0 && starts[digitOf(keyOf, rows[0]!, shift) + 1] === rows.length) return rows;
  for (let digit = 0; digit < DIGITS; digit += 1) starts[digit + 1]! += starts[digit]!;
  const sorted = new Uint32Array(rows.length);
  for (const row of rows) {
    const digit = digitOf(keyOf, row, shift);
    sorted[starts[digit]!] = row;
    starts[digit]! += 1;
  }
  return sorted;
}

function digitOf(keyOf: Uint32Array, row: number, shift: number): number {
  return (keyOf[row]! >>> shift) & (DIGITS - 1);
}
