// Reads a file of JSON lines as bytes. Only "\n" ends a line, and a tail without one is torn: it was never acknowledged.
import { open } from 'node:fs/promises';
import { describeDamage } from '@assay/domain';
import { readIfThere } from './missing-file.ts';

const CHUNK_BYTES = 2 ** 20;
const NEWLINE = 10;

// Fatal, so that broken UTF-8 is damage and not a replacement character; a BOM stays and fails as JSON.
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export interface ScannedLine {
  bytes: Buffer;
  offset: number;
  /** Counted from 1. */
  number: number;
}

interface LineScan {
  lines: number;
  /** Bytes up to and with the last newline. */
  wholeBytes: number;
  /** Bytes behind it. */
  tornBytes: number;
}

/** Calls `onLine` for each whole line of the first `endBytes` bytes. A missing file has none. */
export async function scanLines(path: string, onLine: (line: ScannedLine) => void, endBytes = Number.POSITIVE_INFINITY): Promise<LineScan> {
  const file = await readIfThere(open(path, 'r'));
  if (file === undefined) return { lines: 0, wholeBytes: 0, tornBytes: 0 };
  try {
    let pending = Buffer.alloc(0);
    let wholeBytes = 0;
    let lines = 0;
    for (;;) {
      const room = Math.min(CHUNK_BYTES, endBytes - wholeBytes - pending.length);
      const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(Math.max(room, 0)), 0, Math.max(room, 0));
      if (bytesRead === 0) return { lines, wholeBytes, tornBytes: pending.length };
      const data = Buffer.concat([pending, buffer.subarray(0, bytesRead)]);
      let start = 0;
      for (let end = data.indexOf(NEWLINE, start); end !== -1; end = data.indexOf(NEWLINE, start)) {
        lines += 1;
        onLine({ bytes: data.subarray(start, end), offset: wholeBytes + start, number: lines });
        start = end + 1;
      }
      wholeBytes += start;
      pending = data.subarray(start);
    }
  } finally {
    await file.close();
  }
}

interface Parser<Value> {
  safeParse(value: unknown): { success: true; data: Value } | { success: false; error: { issues: readonly { path: PropertyKey[]; message: string }[] } };
}

/** Parses a whole line, or throws RESULTS_DAMAGED with its place. */
export function parseLine<Value>(line: ScannedLine, file: string, schema: Parser<Value>): Value {
  const parsed = schema.safeParse(parseJson(line, file));
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  throw describeDamage(file, line.number, `${issue?.path.join('.') || 'record'}: ${issue?.message ?? 'not of the expected form'}`);
}

function parseJson(line: ScannedLine, file: string): unknown {
  try {
    return JSON.parse(decoder.decode(line.bytes));
  } catch {
    throw describeDamage(file, line.number, 'not a JSON record');
  }
}
