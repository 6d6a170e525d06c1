// Reads a worker's events from its fd 3. A line that is no event is reported and skipped; a torn last line is dropped. An event whose
// fields do not fit is neither: whoever waits for it would wait for ever.
import type { Readable } from 'node:stream';
import { LineSplitter, workerEventSchema, type WorkerEvent } from '@assay/protocol';

interface EventHandlers {
  onEvent: (event: WorkerEvent) => void;
  /** A `hello` of another protocol version, whatever else it holds. */
  onForeignHello: (protocol: unknown) => void;
  onGarbage: (line: string, problem: string) => void;
  /** An event of a known type with fields that do not fit it. */
  onMisfit: (problem: string) => void;
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

function handleLine(line: string, { onEvent, onForeignHello, onGarbage, onMisfit, protocol }: EventHandlers): void {
  const value = parseJson(line);
  if (isHello(value) && value.protocol !== protocol) return onForeignHello(value.protocol);
  const parsed = workerEventSchema.safeParse(value);
  if (parsed.success) return onEvent(parsed.data);
  const [{ path, message } = { path: [], message: 'not an event' }] = parsed.error.issues;
  const isKnown = path.length > 0 && path[0] !== 'type';
  if (isKnown) return onMisfit(`its "${(value as { type: string }).type}" does not follow the protocol at ${path.join('.')}: ${message}`);
  onGarbage(line.slice(0, 200), message);
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
