import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { readHubHeaders } from './hub-weights.ts';

function buildWeights(name: string, elements: number): Buffer {
  const json = Buffer.from(JSON.stringify({ [name]: { dtype: 'BF16', shape: [elements], data_offsets: [0, 2 * elements] } }));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(json.length));
  return Buffer.concat([length, json, Buffer.alloc(2 * elements)]);
}

interface Hub {
  files: Record<string, Buffer | string>;
  hasRanges?: boolean;
}

/** A hub of one model. Returns what finds it, and the bytes that it has sent. */
async function startHub({ files, hasRanges = true }: Hub) {
  const sent = { bytes: 0, requests: [] as string[] };
  const server: Server = createServer((request, response) => {
    const file = files[request.url?.replace('/owner/name/resolve/v1/', '') ?? ''];
    sent.requests.push(`${request.url?.split('/').at(-1)} ${request.headers.range ?? ''}`.trim());
    if (file === undefined || request.headers.authorization !== 'Bearer secret') return void response.writeHead(404).end();
    const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(request.headers.range ?? '') ?? [];
    const part = hasRanges && from !== undefined ? Buffer.from(file).subarray(Number(from), Number(to) + 1) : Buffer.from(file);
    sent.bytes += part.length;
    if (hasRanges && from !== undefined) response.writeHead(206, { 'content-range': `bytes ${from}-${to}/${Buffer.from(file).length}` });
    return void response.end(part);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => { server.closeAllConnections(); server.close(); });
  const env = { HF_ENDPOINT: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, HF_TOKEN: 'secret' };
  return { question: { id: 'owner/name', revision: 'v1', env }, sent };
}

test('two short reads a file give every header, and the weights stay where they are', async () => {
  const files = { 'a.safetensors': buildWeights('x', 50_000), 'b.safetensors': buildWeights('y', 60_000) };
  const index = JSON.stringify({ weight_map: { x: 'a.safetensors', y: 'b.safetensors', z: 'b.safetensors' } });
  const { question, sent } = await startHub({ files: { ...files, 'model.safetensors.index.json': index } });
  expect(await readHubHeaders(question)).toEqual([{ x: { dtype: 'BF16', shape: [50_000], bytes: 100_000 } }, { y: { dtype: 'BF16', shape: [60_000], bytes: 120_000 } }]);
  expect(sent.requests).toHaveLength(1 + 2 * 2);
  expect(sent.bytes).toBeLessThan(1000);
});

test('a model in one file has no index', async () => {
  const { question } = await startHub({ files: { 'model.safetensors': buildWeights('x', 3) } });
  expect(await readHubHeaders(question)).toEqual([{ x: { dtype: 'BF16', shape: [3], bytes: 6 } }]);
});

test.each<[string, Hub]>([
  ['has no such file', { files: {} }],
  ['knows no ranges', { files: { 'model.safetensors': buildWeights('x', 3) }, hasRanges: false }],
  ['has an index of files that are missing', { files: { 'model.safetensors.index.json': '{"weight_map": {"x": "a.safetensors"}}' } }],
  ['has a damaged file', { files: { 'model.safetensors': Buffer.from('PK-archive-of-something') } }],
])('a hub that %s gives none, and stops nothing', async (_, hub) => {
  const { question } = await startHub(hub);
  expect(await readHubHeaders(question)).toEqual([]);
});
