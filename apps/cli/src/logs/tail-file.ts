// The last lines of a file, and then what is appended to it. Reads bytes, so that a line is only shown when it is whole.
import { type FileHandle, open } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { LineSplitter } from '@assay/protocol';
import { readIfThere } from '@assay/store';

const CHUNK_BYTES = 64 * 1024;
const NEWLINE = 10;

interface TailOptions {
  lines: number;
  /** Asked between two looks at the file; true ends the following. undefined: do not follow. */
  isOver?: () => Promise<boolean>;
  pollMs?: number;
}

/** Yields whole lines. A missing file has none, and is waited for when followed. */
export async function* tailFile(path: string, { lines, isOver, pollMs = 250 }: TailOptions): AsyncGenerator<string> {
  const splitter = new LineSplitter();
  let offset: number | undefined;
  for (;;) {
    // Asked first: what was written before the run ended is then read below.
    const isLast = isOver === undefined || await isOver();
    const file = await readIfThere(open(path, 'r'));
    if (file) {
      try {
        offset ??= await findTail(file, lines);
        for (let chunk = await readChunk(file, offset); chunk.length > 0; chunk = await readChunk(file, offset)) {
          offset += chunk.length;
          yield* splitter.push(chunk);
        }
      } finally {
        await file.close();
      }
    }
    if (isLast) break;
    await sleep(pollMs);
  }
  if (splitter.rest() !== '') yield splitter.rest();
}

async function readChunk(file: FileHandle, offset: number): Promise<Buffer> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(CHUNK_BYTES), 0, CHUNK_BYTES, offset);
  return buffer.subarray(0, bytesRead);
}

/** Offset at which the last `lines` lines begin. */
async function findTail(file: FileHandle, lines: number): Promise<number> {
  const { size } = await file.stat();
  let newlines = 0;
  for (let end = size; end > 0;) {
    const start = Math.max(0, end - CHUNK_BYTES);
    const { buffer } = await file.read(Buffer.alloc(end - start), 0, end - start, start);
    for (let place = end - start - 1; place >= 0; place -= 1) {
      if (buffer[place] !== NEWLINE) continue;
      // The newline that ends the file ends its last line and begins none.
      if (start + place !== size - 1) newlines += 1;
      if (newlines === lines) return start + place + 1;
    }
    end = start;
  }
  return 0;
}
