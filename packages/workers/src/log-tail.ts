// Finds the cause in what a worker wrote before it ended: the first error since it last did well, and the last lines.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs';

const TAIL_LINES = 100;
const READ_BYTES = 1 << 20;
const TAIL_BYTES = 64 << 10;
const MAX_LINE = 500;

// In order of what tells most: an exception's own line, the interpreter's last words, a logged error.
const ERROR_PATTERNS = [
  /^(?:[\w.]+\.)?\w*(?:Error|Exception|Exit|Interrupt|Refused)(?::\s.*)?$/,
  /^Fatal Python error: .*$/,
  /^(?:ERROR|CRITICAL|FATAL)\b.*$/i,
];
// "(EngineCore_0 pid=12) ERROR 01-01 12:00:00 [core.py:7] text" → "text", since libraries log tracebacks line by line.
const PROCESS_PREFIX = /^\([^)]*\)\s*/;
const LOG_PREFIX = /^(?:ERROR|CRITICAL)\s+[\d-]+\s+[\d:.,]+\s+\[[^\]]*\]\s?/;

export interface LogTail {
  /** The line to show to people; empty when nothing was written. */
  firstError: string;
  lines: string[];
}

/** Reads what was appended to the log after `mark` bytes. */
export function readLogTail(logFile: string, mark: number): LogTail {
  const size = readSize(logFile);
  const head = splitLines(readRange(logFile, mark, Math.min(size, mark + READ_BYTES)));
  const tail = splitLines(readRange(logFile, Math.max(mark, size - TAIL_BYTES), size)).slice(-TAIL_LINES);
  return { firstError: findFirstError(head) ?? findFirstError(tail) ?? tail.at(-1) ?? '', lines: tail };
}

export function findFirstError(lines: readonly string[]): string | undefined {
  const plain = lines.map((line) => line.replace(PROCESS_PREFIX, ''));
  for (const pattern of ERROR_PATTERNS) {
    const found = plain.find((line) => pattern.test(line) || pattern.test(line.replace(LOG_PREFIX, '')));
    if (found !== undefined) return found.replace(LOG_PREFIX, '').trim();
  }
  return undefined;
}

export function readSize(logFile: string): number {
  try {
    return withFile(logFile, (file) => fstatSync(file).size);
  } catch {
    return 0;
  }
}

function readRange(logFile: string, begin: number, end: number): string {
  if (end <= begin) return '';
  const bytes = Buffer.alloc(end - begin);
  return withFile(logFile, (file) => bytes.toString('utf8', 0, readSync(file, bytes, 0, bytes.length, begin)));
}

function withFile<Value>(path: string, read: (file: number) => Value): Value {
  const file = openSync(path, 'r');
  try {
    return read(file);
  } finally {
    closeSync(file);
  }
}

/** A progress bar rewrites its line with "\r"; only what it showed last is kept. */
function splitLines(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, '').split('\r').at(-1)?.slice(0, MAX_LINE) ?? '')
    .filter((line) => line.trim() !== '');
}
