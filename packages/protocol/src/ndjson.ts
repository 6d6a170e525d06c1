// One JSON document a line. JSON has no NaN or infinity, so a float that is not finite travels as a string.

export const NON_FINITE = ['NaN', 'Infinity', '-Infinity'] as const;

/** A number as it travels: finite ones as numbers, the others by name. */
export type WireFloat = number | (typeof NON_FINITE)[number];

/** Serialises to one line. U+2028 and U+0085 stay inside their string: only "\n" ends a record. */
export function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/** Cuts a byte stream at "\n" only, and keeps an unfinished tail for the next chunk. */
export class LineSplitter {
  #pending: Buffer[] = [];

  /** Returns the lines that `chunk` completes, without their newline. */
  push(chunk: Buffer): string[] {
    const lines: string[] = [];
    let start = 0;
    for (let end = chunk.indexOf(10, start); end !== -1; end = chunk.indexOf(10, start)) {
      this.#pending.push(chunk.subarray(start, end));
      lines.push(Buffer.concat(this.#pending).toString('utf8'));
      this.#pending = [];
      start = end + 1;
    }
    if (start < chunk.length) this.#pending.push(chunk.subarray(start));
    return lines;
  }

  /** What came after the last newline. */
  rest(): string {
    return Buffer.concat(this.#pending).toString('utf8');
  }
}
