// A model named by its hub id: in the local cache, or to be fetched. Nothing is fetched here but config.json and the headers of
// the weights, and a hub that cannot be reached is found out in seconds, not after an engine's own retries.
import { readdir, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AssayError } from '@assay/domain';
import type { SafetensorsHeader } from '@assay/planner';
import { fetchHubFile, hubEndpoint, type HubQuestion } from './hub-files.ts';
import { readHubHeaders } from './hub-weights.ts';

type Environment = HubQuestion['env'];

interface HubModel {
  /** Snapshot in the cache; undefined where the engine has to fetch it. */
  folder: string | undefined;
  configJson: unknown;
  /** Of weights on the hub; empty where they could not be read in time. */
  headers: SafetensorsHeader[];
}

const REACH_TIMEOUT_MS = 10_000;
const REACH_REMEDY = 'Give the folder of a model that is on this machine, or set HF_HOME to a cache that holds it. Where there is a network: HF_HUB_OFFLINE and TRANSFORMERS_OFFLINE must not be set; HF_ENDPOINT names another hub.';
const SERVER_FAILS = 500;

export async function findHubModel(question: HubQuestion): Promise<HubModel> {
  const cache = hubCacheFolder(question.env);
  const snapshot = await findSnapshot(cache, question);
  if (snapshot?.hasWeights) return { folder: snapshot.folder, configJson: undefined, headers: [] };
  const offline = ['HF_HUB_OFFLINE', 'TRANSFORMERS_OFFLINE'].find((name) => isSet(question.env[name]));
  if (offline !== undefined) throw unreachable(question, `no such folder, and ${offline} is set while ${snapshot ? 'the cache has no weights of it in' : 'the id is not in the cache'} ${snapshot?.folder ?? cache}`);
  return { folder: undefined, configJson: await fetchConfig(question), headers: await readHubHeaders(question) };
}

/** Where huggingface_hub keeps its files. */
function hubCacheFolder(env: Environment): string {
  if (env['HF_HUB_CACHE']) return env['HF_HUB_CACHE'];
  const home = env['HF_HOME'] || join(env['XDG_CACHE_HOME'] || join(env['HOME'] || homedir(), '.cache'), 'huggingface');
  return join(home, 'hub');
}

/** A cache may hold the configuration alone: something asked for no more. */
async function findSnapshot(cache: string, { id, revision }: HubQuestion): Promise<{ folder: string; hasWeights: boolean } | undefined> {
  const model = join(cache, `models--${id.replaceAll('/', '--')}`);
  const commit = await readFile(join(model, 'refs', revision), 'utf8').then((text) => text.trim(), () => revision);
  const folder = join(model, 'snapshots', commit);
  const names: string[] = await readdir(folder).catch(() => []);
  return names.includes('config.json') ? { folder, hasWeights: names.some((name) => name.endsWith('.safetensors')) } : undefined;
}

const isSet = (value: string | undefined): boolean => value !== undefined && ['1', 'true', 'yes', 'on'].includes(value.toLowerCase());

const STATUS_PROBLEMS: Readonly<Record<number, string>> = {
  401: 'no such folder, and the hub knows no such model, or it is gated: set HF_TOKEN',
  403: 'the model is gated: accept its terms on the hub and set HF_TOKEN',
  404: 'no such folder, and the hub has no such model, revision or config.json',
};

async function fetchConfig(question: HubQuestion): Promise<unknown> {
  const endpoint = hubEndpoint(question);
  let response: Response;
  try {
    response = await fetchHubFile(question, 'config.json', { signal: AbortSignal.timeout(REACH_TIMEOUT_MS) });
  } catch (cause) {
    throw unreachable(question, `no such folder, and the hub at ${endpoint} cannot be reached (${describeCause(cause)})`, cause);
  }
  if (response.status >= SERVER_FAILS) throw unreachable(question, `no such folder, and the hub at ${endpoint} answers ${response.status}`);
  if (!response.ok) throw notFound(question, STATUS_PROBLEMS[response.status] ?? `the hub at ${endpoint} answers ${response.status}`);
  return response.json().catch((cause: unknown) => { throw notFound(question, `config.json on the hub at ${endpoint} is not JSON`, cause); });
}

function describeCause(cause: unknown): string {
  const inner = cause instanceof Error && cause.cause instanceof Error ? cause.cause : cause;
  return inner instanceof Error ? ('code' in inner ? String(inner.code) : inner.message) : String(inner);
}

const nameOf = ({ id, revision }: HubQuestion): string => (revision === 'main' ? id : `${id} at ${revision}`);

function notFound(question: HubQuestion, problem: string, cause?: unknown): AssayError {
  return new AssayError('MODEL_NOT_FOUND', { model: nameOf(question), problem }, { cause });
}

/** Nothing is known of the model then, not even that there is none. */
function unreachable(question: HubQuestion, problem: string, cause?: unknown): AssayError {
  return new AssayError('HUB_UNREACHABLE', { subject: `the model ${nameOf(question)}`, problem, instead: REACH_REMEDY }, { cause });
}
