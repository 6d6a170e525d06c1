// Logs as JSON lines, without secrets. Ids are bindings of a child logger, never prose.
import { AssayError, redactSecrets, redactText } from '@assay/domain';
import { type Bindings, type DestinationStream, destination, type Level, type Logger as PinoLogger, pino, stdTimeFunctions } from 'pino';

export type Logger = PinoLogger;
type LogLevel = Level | 'silent';

interface LoggerOptions {
  /** A file (appended to), a stream, or stderr. */
  to?: string | DestinationStream;
  level?: LogLevel;
  bindings?: Bindings;
}

type LogInputs = Parameters<Logger['info']>;

const STDERR = 2;

/** Lines are written before the call returns, so that none is lost when the process ends. */
export function createLogger({ to = 'stderr', level = 'info', bindings = {} }: LoggerOptions = {}): Logger {
  const options = {
    level,
    base: { pid: process.pid, ...redactSecrets(bindings) },
    timestamp: stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label }),
      log: (entry: object) => redactSecrets(withPlainErrors(entry)),
    },
    // `formatters.log` has made errors plain; pino's own serializer would lose their code and details.
    serializers: { err: (error: unknown) => error },
    hooks: {
      logMethod(this: Logger, inputs: LogInputs, method: (...inputs: LogInputs) => void) {
        method.apply(this, cleanInputs(inputs) as LogInputs);
      },
    },
  };
  return pino(options, typeof to === 'string' ? openFile(to) : to);
}

function openFile(path: string): DestinationStream {
  const stream = destination({ dest: path === 'stderr' ? STDERR : path, append: true, mkdir: true, sync: true });
  // A full disk costs the line, not the process: whoever writes what must not be lost says so and ends in order.
  stream.on('error', () => undefined);
  return stream;
}

/** Texts without secrets; a bare error gets its message as a text, so that this too passes here. */
function cleanInputs(inputs: readonly unknown[]): unknown[] {
  const [first, ...rest] = inputs;
  const named = first instanceof Error && rest.length === 0 ? [{ err: first }, first.message] : inputs;
  return named.map((input) => (typeof input === 'string' ? redactText(input) : input));
}

function withPlainErrors(entry: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entry).map(([key, value]: [string, unknown]) => [key, value instanceof Error ? describeError(value) : value]));
}

interface DescribedError {
  type: string;
  message: string;
  code?: string;
  details?: Record<string, string | number>;
  stack?: string;
  cause?: unknown;
}

/** Every cause is kept: the root one is what explains the others. */
function describeError(error: Error): DescribedError {
  const code = 'code' in error ? { code: String(error.code) } : {};
  return {
    type: error.name,
    message: error.message,
    ...code,
    ...(error instanceof AssayError ? { details: error.details } : {}),
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(error.cause === undefined ? {} : { cause: error.cause instanceof Error ? describeError(error.cause) : error.cause }),
  };
}
