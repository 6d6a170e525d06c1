// Reads a worker's events from its fd 3. A line that is not an event is reported and skipped; a torn last line is dropped.
import type { Readable } from 'node:stream';
import { LineSplitter, workerEventSchema, type WorkerEvent } from '@assay/protocol';

interface EventHandlers {
  onEvent: (event: WorkerEvent) => void;
  /** A `hello` of another protocol version, whatever else it holds. */
  onForeignHello: (protocol: unknown) => void;
  onGarbage: (line: string, problem: string) => void;
  protocol: number;
}

/** Resolves when the stream has ended, after every event in it has been handled. */
export function readEvents(stream: Readable, handlers: EventHandlers): Promise<void> {
  const splitter = new LineSplitter();
  stream.on('data', (chunk: Buffer) => {
    for (const line of splitter.push(chunk)) handleLine(line, handlers);
  });
  return new Promise((resolve) => {
    stream.once('close', resolve);
    stream.once('error', () => resolve());
  });
}

function handleLine(line: string, { onEvent, onForeignHello, onGarbage, protocol }: EventHandlers): void {
  const value = parseJson(line);
  if (isHello(value) && value.protocol !== protocol) return onForeignHello(value.protocol);
  const parsed = workerEventSchema.safeParse(value);
  if (!parsed.success) return onGarbage(line.slice(0, 200), parsed.error.issues[0]?.message ?? 'not an event');
  onEvent(parsed.data);
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function isHello(value: unknown): value is { type: 'hello'; protocol: unknown } {
  return typeof value === 'object' && value !== null && 'type' in value && value.type === 'hello' && 'protocol' in value;
}
