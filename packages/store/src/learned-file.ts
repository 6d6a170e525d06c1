// One file of what runs on this machine have shown: a bounded list, newest last, in ASSAY_HOME. Invariant: whatever lies there,
// reading gives the entries that are whole and writing leaves a whole file; runs that write at once take turns.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { writeFileAtomic } from './atomic-file.ts';
import { type FileLock, tryLockFile } from './lock-file.ts';

const LOCK_NAME = 'learned-lock';
const LOCK_WAIT_MS = 2_000;
const LOCK_POLL_MS = 20;

interface LearnedFileOptions<Entry> {
  home: string;
  /** learned-NAME.json. */
  name: string;
  entry: z.ZodType<Entry>;
  mostEntries: number;
}

const fileSchema = z.object({ schema: z.literal(1), entries: z.array(z.unknown()) });

export class LearnedFile<Entry> {
  readonly #options: LearnedFileOptions<Entry>;
  readonly #path: string;

  constructor(options: LearnedFileOptions<Entry>) {
    this.#options = options;
    this.#path = join(options.home, `learned-${options.name}.json`);
  }

  /** Oldest first. A file that is broken or of another version holds nothing, and neither does an entry that is. */
  async read(): Promise<Entry[]> {
    try {
      const { entries } = fileSchema.parse(JSON.parse(await readFile(this.#path, 'utf8')));
      return entries.flatMap((entry) => {
        const parsed = this.#options.entry.safeParse(entry);
        return parsed.success ? [parsed.data] : [];
      });
    } catch {
      return [];
    }
  }

  /** Adds entries in one write; of those like each, itself among them, the newest `kept` stay. False where other runs kept the lock too long: then none is learned. */
  async add(added: readonly Entry[], areAlike: (entry: Entry, other: Entry) => boolean, kept = 1): Promise<boolean> {
    const lock = await waitForLock(join(this.#options.home, LOCK_NAME));
    if (!lock) return false;
    try {
      const all = added.reduce((known, entry) => append(known, { entry, areAlike, kept }), await this.read());
      const entries = all.slice(-this.#options.mostEntries);
      await writeFileAtomic(this.#path, `{"schema":1,"entries":[\n${entries.map((each) => JSON.stringify(each)).join(',\n')}\n]}\n`);
      return true;
    } finally {
      lock.release();
    }
  }
}

interface Append<Entry> {
  entry: Entry;
  areAlike(entry: Entry, other: Entry): boolean;
  kept: number;
}

function append<Entry>(known: Entry[], { entry, areAlike, kept }: Append<Entry>): Entry[] {
  const alike = known.filter((other) => areAlike(entry, other));
  const dropped = new Set(alike.slice(0, Math.max(0, alike.length + 1 - kept)));
  return [...known.filter((other) => !dropped.has(other)), entry];
}

async function waitForLock(path: string): Promise<FileLock | undefined> {
  const deadlineMs = Date.now() + LOCK_WAIT_MS;
  for (;;) {
    const { lock } = await tryLockFile(path);
    if (lock || Date.now() > deadlineMs) return lock;
    await sleep(LOCK_POLL_MS);
  }
}
