// The weights of a model folder. Every safetensors header is read and held against the size of its file, since a download
// that stopped early is the usual damage and an engine reports it late and badly.
import { open, readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { AssayError } from '@assay/domain';
import { headerBytesOf, parseSafetensorsHeader, type SafetensorsHeader } from '@assay/planner';
import { describeUnreadable, readModelJson } from './model-json.ts';

export interface WeightFile {
  /** Name inside the model's folder. */
  file: string;
  bytes: number;
}

const INDEX_FILE = 'model.safetensors.index.json';
const FETCH_MISSING = 'Fetch the missing files; a download that stopped early is the usual cause.';
const LENGTH_BYTES = 8;
const FORMATS_WITHOUT_HEADER = /^(dummy|bitsandbytes|runai_streamer|sharded_state|tensorizer|pt|npcache|mistral)/;

export async function readWeights(folder: string, modelArgs: Readonly<Record<string, unknown>>): Promise<{ weights: WeightFile[]; headers: SafetensorsHeader[] }> {
  const names = await readdir(folder);
  const files = await listWeightFiles(folder, names);
  if (files.length === 0) {
    if (FORMATS_WITHOUT_HEADER.test(String(modelArgs['load_format'] ?? ''))) return { weights: [], headers: [] };
    throw new AssayError('MODEL_NOT_FOUND', { model: folder, problem: explainMissingWeights(names) });
  }
  const weights: WeightFile[] = [];
  const headers: SafetensorsHeader[] = [];
  for (const file of files) {
    const { bytes, header } = await readHeader(join(folder, file));
    weights.push({ file, bytes });
    headers.push(header);
  }
  return { weights, headers };
}

/** The files an index names, all of them there; without an index, every safetensors file. */
async function listWeightFiles(folder: string, names: string[]): Promise<string[]> {
  const present = names.filter((name) => name.endsWith('.safetensors')).sort();
  if (!names.includes(INDEX_FILE)) {
    checkNumberedParts(folder, present);
    return present;
  }
  const named = [...new Set(Object.values(await readIndex(join(folder, INDEX_FILE))))].sort();
  const missing = named.filter((name) => !present.includes(name));
  if (missing.length > 0) {
    const shown = `${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ', …' : ''}`;
    throw new AssayError('MODEL_BROKEN', { model: folder, problem: `${INDEX_FILE} names ${named.length} files, ${missing.length} are missing: ${shown}`, instead: FETCH_MISSING });
  }
  return named;
}

async function readIndex(path: string): Promise<Record<string, string>> {
  const { weight_map: map } = (await readModelJson(path)) as { weight_map?: Record<string, string> | null };
  const isMap = typeof map === 'object' && map !== null && Object.values(map).every((file) => typeof file === 'string');
  if (isMap && Object.keys(map).length > 0) return map;
  throw new AssayError('MODEL_BROKEN', { model: path, problem: 'it has no weight_map from tensor to file', instead: 'Fetch it again, or delete it where the folder holds all weights.' });
}

/** "model-00002-of-00003.safetensors" without the first and third. */
function checkNumberedParts(folder: string, present: string[]): void {
  const parts = present.map((name) => /^(.*)-(\d{5})-of-(\d{5})\.safetensors$/.exec(name)).filter((match) => match !== null);
  const total = Number(parts[0]?.[3] ?? 0);
  if (total > 0 && parts.length < total) {
    throw new AssayError('MODEL_BROKEN', { model: folder, problem: `${parts.length} of ${total} weight files are there`, instead: FETCH_MISSING });
  }
}

function explainMissingWeights(names: string[]): string {
  const pickled = names.filter((name) => /^(pytorch_model.*\.bin|consolidated.*\.pth|.*\.pt)$/.test(name));
  if (pickled.length > 0) return `it has only pickled weights (${pickled[0]}), which can run code when they are read; convert them to safetensors`;
  const packed = names.filter((name) => name.endsWith('.gguf'));
  if (packed.length > 0) return `it has only GGUF weights (${packed[0]}), which this engine does not load; convert them to safetensors`;
  return 'the folder has no *.safetensors weights';
}

async function readHeader(path: string): Promise<{ bytes: number; header: SafetensorsHeader }> {
  try {
    return await readWholeHeader(path);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error) || error instanceof AssayError) throw error;
    throw describeUnreadable(path, error as NodeJS.ErrnoException);
  }
}

async function readWholeHeader(path: string): Promise<{ bytes: number; header: SafetensorsHeader }> {
  const { size } = await stat(path);
  const source = { file: path, fileBytes: size };
  const isPointer = size < 1024 && (await readFile(path, 'utf8')).startsWith('version https://git-lfs');
  if (isPointer) throw new AssayError('MODEL_BROKEN', { model: path, problem: 'it is a git-lfs pointer, not the weights', instead: 'Run `git lfs pull` in the folder of the model.' });
  const file = await open(path, 'r');
  try {
    const start = Buffer.alloc(Math.min(LENGTH_BYTES, size));
    await file.read(start, 0, start.length, 0);
    const header = Buffer.alloc(headerBytesOf(start, source));
    await file.read(header, 0, header.length, 0);
    return { bytes: size, header: parseSafetensorsHeader(header, source) };
  } finally {
    await file.close();
  }
}
