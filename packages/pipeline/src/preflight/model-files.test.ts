import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdir, mkdtemp, readFile, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AssayError } from '@assay/domain';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkModel } from './model-files.ts';

let root: string;
let folder: string;
let hub: Server | undefined;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'assay-model-'));
  folder = join(root, 'smollm2');
  await mkdir(folder);
  await writeFile(join(folder, 'config.json'), JSON.stringify({ model_type: 'llama', hidden_size: 4 }));
  await writeFile(join(folder, 'tokenizer.json'), '{}');
  await writeFile(join(folder, 'model.safetensors'), safetensors({ weight: [2, 2] }));
});

afterEach(async () => {
  hub?.close();
  hub = undefined;
  await rm(root, { recursive: true });
});

function safetensors(shapes: Record<string, number[]>): Buffer {
  let end = 0;
  const header = JSON.stringify(Object.fromEntries(Object.entries(shapes).map(([name, shape]) => {
    const begin = end;
    end += shape.reduce((product, size) => product * size, 4);
    return [name, { dtype: 'F32', shape, data_offsets: [begin, end] }];
  })));
  const length = Buffer.alloc(8);
  length.writeBigUInt64LE(BigInt(header.length));
  return Buffer.concat([length, Buffer.from(header), Buffer.alloc(end)]);
}

const check = (pretrained: unknown, more: Record<string, unknown> = {}, env: Record<string, string> = { HF_HUB_OFFLINE: '1', HF_HOME: join(root, 'hf') }) => (
  checkModel({ modelArgs: { pretrained, ...more }, env, cwd: root })
);

async function refuse(pretrained: unknown, more?: Record<string, unknown>, env?: Record<string, string>): Promise<AssayError> {
  const outcome = await check(pretrained, more, env).catch((thrown: unknown) => thrown);
  if (outcome instanceof AssayError) return outcome;
  throw new Error(`accepted: ${JSON.stringify(outcome)}`);
}

test('a complete folder gives its configuration and headers', async () => {
  const files = await check('smollm2');
  expect(files).toMatchObject({ path: folder, configJson: { model_type: 'llama' }, weights: [{ file: 'model.safetensors' }] });
  expect(files.headers).toEqual([{ weight: { dtype: 'F32', shape: [2, 2], bytes: 16 } }]);
});

test('a misspelt folder names the one beside it', async () => {
  expect((await refuse('./smolm2')).message).toContain(`beside it there is ${folder}`);
  expect((await refuse(join(root, 'deep', 'er', 'smollm2'))).message).toContain('deep is missing');
});

test('a file in place of a folder is refused', async () => {
  expect(await refuse('./smollm2/config.json')).toMatchObject({ code: 'MODEL_NOT_FOUND' });
});

test.each([
  ['config.json', 'MODEL_NOT_FOUND', 'no config.json'],
  ['tokenizer.json', 'MODEL_NOT_FOUND', 'no tokenizer'],
  ['model.safetensors', 'MODEL_NOT_FOUND', 'no *.safetensors'],
])('without %s: %s', async (name, code, words) => {
  await rm(join(folder, name));
  const error = await refuse('smollm2');
  expect(error.code).toBe(code);
  expect(error.message).toContain(words);
});

test.each([
  ['a link to nowhere', (path: string) => symlink('nowhere', path), 'a link to a file that is not there', 'Put the file back'],
  ['a folder', (path: string) => mkdir(path), 'cannot be read (EISDIR)', 'Put the file itself'],
])('a file that is %s is damage', async (_, make, words, remedy) => {
  for (const name of ['tokenizer.json', 'model.safetensors', 'config.json']) {
    const path = join(folder, name);
    await rm(path);
    await make(path);
    const error = await refuse('smollm2');
    expect(error.code).toBe('MODEL_BROKEN');
    expect(error.message).toContain(words);
    expect(error.message).toContain(name);
    expect(error.remedy).toContain(remedy);
  }
});

test.each([
  ['config.json', '{"a": 1,', 'not JSON', 'Correct the file'],
  ['config.json', '[1]', 'not a JSON object', 'Correct the file'],
  ['tokenizer.json', '{', 'not JSON', 'Correct the file'],
  ['model.safetensors.index.json', '{', 'not JSON', 'Correct the file'],
  ['model.safetensors.index.json', '{}', 'no weight_map', 'Fetch it again'],
  ['model.safetensors', 'version https://git-lfs.github.com/spec/v1\n', 'git-lfs pointer', 'git lfs pull'],
  ['model.safetensors', '123', 'only 3 bytes', 'Fetch the file again'],
  ['model.safetensors', Buffer.concat([Buffer.from([5, 0, 0, 0, 0, 0, 0, 0]), Buffer.from('{"a":')]), 'header is not JSON', 'Fetch the file again'],
  ['model.safetensors', Buffer.alloc(64, 0xff), 'header claims', 'Fetch the file again'],
])('%s holding %j is broken, and the file is named with what helps', async (name, content, words, remedy) => {
  await writeFile(join(folder, name), content);
  const error = await refuse('smollm2');
  expect(error.code).toBe('MODEL_BROKEN');
  expect(error.message).toContain(name);
  expect(error.message).toContain(words);
  expect(error.remedy).toContain(remedy);
});

test('weights cut short at any byte are broken, with both sizes', async () => {
  const path = join(folder, 'model.safetensors');
  const whole = await readFile(path);
  for (const size of [0, 7, 8, 40, whole.length - 16, whole.length - 1]) {
    await writeFile(path, whole);
    await truncate(path, size);
    expect((await refuse('smollm2')).code, `${size} bytes`).toBe('MODEL_BROKEN');
  }
  expect((await refuse('smollm2')).message).toContain(`${whole.length - 1} bytes where its header describes ${whole.length}`);
});

test('every file an index names must be there', async () => {
  await writeFile(join(folder, 'model.safetensors.index.json'), JSON.stringify({ weight_map: { a: 'model-00001-of-00002.safetensors', b: 'model-00002-of-00002.safetensors' } }));
  await writeFile(join(folder, 'model-00001-of-00002.safetensors'), safetensors({ a: [1] }));
  const error = await refuse('smollm2');
  expect(error.message).toContain('names 2 files, 1 are missing: model-00002-of-00002.safetensors');
  expect(error.remedy).toContain('Fetch the missing files');
  await writeFile(join(folder, 'model-00002-of-00002.safetensors'), safetensors({ b: [1] }));
  expect((await check('smollm2')).headers).toHaveLength(2);
});

test('numbered parts without an index are counted', async () => {
  await rm(join(folder, 'model.safetensors'));
  await writeFile(join(folder, 'model-00002-of-00003.safetensors'), safetensors({ a: [1] }));
  expect((await refuse('smollm2')).message).toContain('1 of 3 weight files');
});

test.each([['pytorch_model.bin', 'can run code'], ['model.gguf', 'GGUF']])('with only %s the reason is said', async (name, words) => {
  await rm(join(folder, 'model.safetensors'));
  await writeFile(join(folder, name), 'x');
  expect((await refuse('smollm2')).message).toContain(words);
});

test('a tokenizer elsewhere is checked there', async () => {
  await rm(join(folder, 'tokenizer.json'));
  await mkdir(join(root, 'tokens'));
  await writeFile(join(root, 'tokens', 'tokenizer.model'), 'x');
  expect((await check('smollm2', { tokenizer: './tokens' })).path).toBe(folder);
  expect((await refuse('smollm2', { tokenizer: './token' })).message).toContain('tokenizer: no such folder; beside it there is');
});

test('an id that is not in the cache is refused at once when offline', async () => {
  const error = await refuse('owner/name');
  expect(error.message).toContain('HF_HUB_OFFLINE is set');
  expect(error).toMatchObject({ code: 'HUB_UNREACHABLE', exitCode: 3 });
});

test('an id in the cache is a folder there', async () => {
  const snapshot = join(root, 'hf/hub/models--owner--name/snapshots/abc');
  await mkdir(snapshot, { recursive: true });
  await mkdir(join(root, 'hf/hub/models--owner--name/refs'));
  await writeFile(join(root, 'hf/hub/models--owner--name/refs/main'), 'abc\n');
  for (const name of ['config.json', 'tokenizer.json', 'model.safetensors']) await writeFile(join(snapshot, name), await readFile(join(folder, name)));
  expect(await check('owner/name')).toMatchObject({ path: snapshot });
  await rm(join(snapshot, 'model.safetensors'));
  expect((await refuse('owner/name')).message).toContain('the cache has no weights of it');
});

test('a hub that answers gives the configuration; one that does not is a fault of the surroundings', async () => {
  const statuses = { gated: 403, ill: 503 };
  hub = createServer((request, response) => {
    if (request.url === '/owner/name/resolve/main/config.json') response.end('{"model_type": "llama"}');
    else response.writeHead(Object.entries(statuses).find(([name]) => request.url?.includes(name))?.[1] ?? 404).end();
  });
  await new Promise<void>((resolve) => hub?.listen(0, '127.0.0.1', resolve));
  const endpoint = `http://127.0.0.1:${(hub.address() as AddressInfo).port}`;
  const env = { HF_ENDPOINT: endpoint, HF_HOME: join(root, 'hf') };
  expect(await check('owner/name', {}, env)).toMatchObject({ path: undefined, configJson: { model_type: 'llama' }, headers: [] });
  expect(await refuse('owner/none', {}, env)).toMatchObject({ code: 'MODEL_NOT_FOUND', exitCode: 2, message: expect.stringContaining('the hub has no such model') as string });
  expect(await refuse('owner/ill', {}, env)).toMatchObject({ code: 'HUB_UNREACHABLE', message: expect.stringContaining('answers 503') as string });
  expect((await refuse('owner/gated', {}, env)).message).toContain('gated');
  const closed = new Promise((resolve) => hub?.close(resolve));
  hub.closeAllConnections();
  await closed;
  expect(await refuse('owner/name', {}, env)).toMatchObject({ code: 'HUB_UNREACHABLE', exitCode: 3, message: expect.stringContaining('cannot be reached (ECONNREFUSED)') as string });
});

test('without a name there is no model', async () => {
  expect((await refuse(undefined)).code).toBe('CONFIG_VALUE');
});
