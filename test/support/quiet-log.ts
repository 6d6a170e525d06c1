// A logger that keeps what it is told.

interface LogLine {
  level: 'debug' | 'info' | 'warn' | 'error';
  fields: object;
  message: string;
}

export function makeLog() {
  const lines: LogLine[] = [];
  const write = (level: LogLine['level']) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  return { lines, debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
}
