// Checks a model's files before anything is loaded: configuration, weights (every header), tokenizer. What was read on the
// way is returned, so that planning needs no second look.
import { lstat, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { AssayError } from '@assay/domain';
import type { SafetensorsHeader } from '@assay/planner';
import { findHubModel } from './hub-model.ts';
import { describeMissingFolder } from './missing-folder.ts';
import { readModelJson } from './model-json.ts';
import { checkTokenizerFiles } from './tokenizer-files.ts';
import { readWeights, type WeightFile } from './weight-files.ts';

export interface ModelFiles {
  /** As the configuration names it: model_args.pretrained. */
  name: string;
  /** Absolute folder of the files; undefined for a hub id whose files are not on this machine yet: the engine fetches them. */
  path: string | undefined;
  configJson: unknown;
  /** One a weights file; empty where neither this machine nor the hub could show them. */
  headers: SafetensorsHeader[];
  weights: WeightFile[];
}

interface ModelCheck {
  modelArgs: Readonly<Record<string, unknown>>;
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
}

/** Throws MODEL_NOT_FOUND where files are missing, MODEL_BROKEN where they are damaged. */
export async function checkModel({ modelArgs, env, cwd }: ModelCheck): Promise<ModelFiles> {
  const name = readName(modelArgs);
  const path = resolve(cwd, name);
  if (await isFolder(path)) return { name, ...(await readFolder({ path, name, modelArgs, cwd })) };
  if (isPath(name) || (await exists(path))) throw new AssayError('MODEL_NOT_FOUND', { model: name, problem: await describeMissingFolder(path) });
  const found = await findHubModel({ id: name, revision: readText(modelArgs['revision']) ?? 'main', env });
  if (found.folder === undefined) return { name, path: undefined, configJson: found.configJson, headers: found.headers, weights: [] };
  return { name, ...(await readFolder({ path: found.folder, name, modelArgs, cwd })) };
}

function readName(modelArgs: ModelCheck['modelArgs']): string {
  const name = modelArgs['pretrained'];
  if (typeof name === 'string' && name.trim() !== '') return name;
  throw new AssayError('CONFIG_VALUE', { place: 'model_args', key: 'pretrained', problem: 'expected the folder or the hub id of a model' });
}

/** A hub id is NAME or OWNER/NAME; everything else that is not there is a path that is not there. */
function isPath(name: string): boolean {
  return /^[./~]/.test(name) || name.split('/').length > 2 || !/^[\w.-]+(\/[\w.-]+)?$/.test(name);
}

interface Folder {
  path: string;
  name: string;
  modelArgs: ModelCheck['modelArgs'];
  cwd: string;
}

async function readFolder({ path, name, modelArgs, cwd }: Folder): Promise<Pick<ModelFiles, 'path' | 'configJson' | 'headers' | 'weights'>> {
  const configJson = await readModelConfig(path, name);
  const { weights, headers } = await readWeights(path, modelArgs);
  const tokenizer = readText(modelArgs['tokenizer']);
  const tokenizerFolder = tokenizer === undefined ? path : resolve(cwd, tokenizer);
  if (await isFolder(tokenizerFolder)) await checkTokenizerFiles(tokenizerFolder);
  else if (tokenizer !== undefined && isPath(tokenizer)) {
    throw new AssayError('MODEL_NOT_FOUND', { model: tokenizer, problem: `tokenizer: ${await describeMissingFolder(tokenizerFolder)}` });
  }
  return { path, configJson, headers, weights };
}

async function readModelConfig(path: string, name: string): Promise<unknown> {
  const file = join(path, 'config.json');
  if (!(await isListed(file))) throw new AssayError('MODEL_NOT_FOUND', { model: name, problem: 'the folder has no config.json' });
  return readModelJson(file);
}

const readText = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);

const isFolder = (path: string): Promise<boolean> => stat(path).then((found) => found.isDirectory(), () => false);
/** There, be it as a link to nowhere. */
const isListed = (path: string): Promise<boolean> => lstat(path).then(() => true, () => false);
const exists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false);
