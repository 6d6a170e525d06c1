// One line of a run's log for people: time, level, message, then the rest as key=value. Anything else stays as it is.

const HIDDEN = new Set(['time', 'level', 'msg', 'pid', 'run']);

export function renderLogLine(line: string): string {
  let entry: Record<string, unknown>;
  try {
    entry = JSON.parse(line) as Record<string, unknown>;
  } catch {
    return line;
  }
  if (entry === null || typeof entry !== 'object') return line;
  const rest = Object.entries(entry).filter(([key]) => !HIDDEN.has(key)).map(([key, value]) => `${key}=${showValue(value)}`);
  return [entry['time'], String(entry['level'] ?? '').padEnd(5), entry['msg'], ...rest].filter((part) => part !== undefined && part !== '').join(' ');
}

/** Of an error the message; its stack is in the file. */
function showValue(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'stack' in value && 'message' in value) return JSON.stringify(value.message);
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}
