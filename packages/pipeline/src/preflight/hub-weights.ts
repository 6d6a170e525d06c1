// Headers of weights that lie on the hub: two reads of a few bytes for each file, never the weights. It makes a plan exact and is
// never needed: where anything is missing or the hub is slow there are no headers, and the facts say where the weights are from.
import { headerBytesOf, parseSafetensorsHeader, type SafetensorsHeader } from '@assay/planner';
import { fetchHubFile, type HubQuestion } from './hub-files.ts';

const DEADLINE_MS = 30_000;
const AT_ONCE = 8;
const LENGTH_BYTES = 8;
const INDEX_FILE = 'model.safetensors.index.json';
const SINGLE_FILE = 'model.safetensors';

/** One header a file, all of them or none. */
export async function readHubHeaders(question: HubQuestion): Promise<SafetensorsHeader[]> {
  const signal = AbortSignal.timeout(DEADLINE_MS);
  try {
    const files = await listFiles(question, signal);
    const headers: SafetensorsHeader[] = [];
    for (let first = 0; first < files.length; first += AT_ONCE) {
      headers.push(...await Promise.all(files.slice(first, first + AT_ONCE).map((file) => readHeader(question, file, signal))));
    }
    return headers;
  } catch {
    // No such file, no ranges, too slow, damaged: the engine, which needs the files, says what is wrong with them.
    return [];
  }
}

async function listFiles(question: HubQuestion, signal: AbortSignal): Promise<string[]> {
  const response = await fetchHubFile(question, INDEX_FILE, { signal });
  if (!response.ok) {
    await response.body?.cancel();
    return [SINGLE_FILE];
  }
  const { weight_map: map = {} } = await response.json() as { weight_map?: Record<string, string> };
  return [...new Set(Object.values(map))].sort();
}

async function readHeader(question: HubQuestion, file: string, signal: AbortSignal): Promise<SafetensorsHeader> {
  const { bytes: length, fileBytes } = await readRange([0, LENGTH_BYTES - 1]);
  const source = { file: `${question.id}/${file}`, fileBytes };
  const { bytes: rest } = await readRange([LENGTH_BYTES, headerBytesOf(length, source) - 1]);
  return parseSafetensorsHeader(Buffer.concat([length, rest]), source);

  async function readRange(range: readonly [number, number]): Promise<{ bytes: Buffer; fileBytes: number }> {
    const response = await fetchHubFile(question, file, { signal, range });
    const total = /^bytes \d+-\d+\/(\d+)$/.exec(response.headers.get('content-range') ?? '')?.[1];
    if (response.status !== 206 || total === undefined) {
      // A server without ranges would send the whole file.
      await response.body?.cancel();
      throw new Error(`${file}: the hub answers ${response.status} to a request for a part`);
    }
    return { bytes: Buffer.from(await response.arrayBuffer()), fileBytes: Number(total) };
  }
}
