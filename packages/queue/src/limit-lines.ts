// A brake for log lines that repeat.

const WINDOW_MS = 10_000;
const LINES_PER_WINDOW = 5;

/** Passes on at most five lines in ten seconds; the next window's first line says how many were left out. */
export function limitLines(write: (fields: object, message: string) => void, now: () => number = Date.now): typeof write {
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let lines = 0;
  return (fields, message) => {
    if (now() - windowStartMs >= WINDOW_MS) {
      const leftOut = lines - LINES_PER_WINDOW;
      windowStartMs = now();
      lines = 0;
      if (leftOut > 0) write({ leftOut }, 'lines like the next were left out');
    }
    lines += 1;
    if (lines <= LINES_PER_WINDOW) write(fields, message);
  };
}
