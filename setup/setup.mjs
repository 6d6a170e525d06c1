// The set-up: every step idempotent, environment.json last. Complete means complete for this clone and this ASSAY_HOME.
import { closeSync, existsSync, mkdirSync, rmSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { closeLog, openLog } from './command.mjs';
import { convertDemoModel, demoModelDir, hasDemoModel } from './demo-model.mjs';
import { SetupError } from './failure.mjs';
import { cloneDir, readJson, resolveHome, writeJsonAtomic } from './home.mjs';
import { lockFolder } from './lock.mjs';
import { hasNodePackages, installNodePackages } from './node-packages.mjs';
import { checkDisk, checkPlatform, findPython, hasNvidiaGpu } from './platform.mjs';
import { say, showStep } from './progress.mjs';
import * as environment from './python-environment.mjs';

const SCHEMA = 1;
const NODE_PACKAGES_GIB = 0.7;
const ENVIRONMENT_GIB = { cpu: 6, cuda: 16 };

/** Brings everything up to date and returns environment.json's content: {schema, python, demoModel, redisServer}. */
export async function setUp() {
  const startMs = performance.now();
  checkPlatform();
  const home = resolveHome();
  const engine = hasNvidiaGpu() ? 'cuda' : 'cpu';
  const ready = readComplete(home, engine);
  if (ready) {
    say(`Assay is set up in ${home} (checked in ${((performance.now() - startMs) / 1000).toFixed(1)} s).`);
    return ready;
  }
  say(`Setting up Assay in ${home}; it is kept there for the next start.`);
  createHome(home);
  const context = { home, engine, locks: [] };
  try {
    await runSteps(context);
  } finally {
    for (const descriptor of context.locks) closeSync(descriptor);
    if (context.log) closeLog(context.log);
  }
  return readComplete(home, engine);
}

async function runSteps(context) {
  const { home, engine } = context;
  await showStep('Platform, Python', () => {
    const python = findPython();
    Object.assign(context, { python: python.executable, pythonVersion: python.version });
    return `Linux x86-64, Python ${python.version}${python.note}, ${engine === 'cuda' ? 'NVIDIA GPU' : 'no NVIDIA GPU'}`;
  });
  const onWait = (dir) => say(`  Another set-up works in ${dir}; waiting for it.`);
  for (const dir of [home, cloneDir]) context.locks.push(await lockFolder(context.python, dir, onWait));
  context.log = openLog(home);
  context.pipEnv = { TMPDIR: path.join(home, 'setup-tmp') };
  if (!hasNodePackages()) checkDisk(cloneDir, NODE_PACKAGES_GIB);
  if (!environment.hasPythonEnvironment(home, engine)) checkDisk(home, ENVIRONMENT_GIB[engine]);
  if (!hasNodePackages()) await showStep('npm packages, Node 24', () => installNodePackages(context));
  if (!environment.hasPythonEnvironment(home, engine)) await buildEnvironment(context);
  const dir = environment.environmentDir(home, engine);
  if (!hasDemoModel(home)) {
    await showStep('Demo model: SmolLM2 135M', () => convertDemoModel(context, home, environment.pythonOf(dir)));
  }
  await showStep('Redis', () => finish(context, dir));
}

async function buildEnvironment(context) {
  const { home, engine } = context;
  const dir = environment.environmentDir(home, engine);
  const { TMPDIR } = context.pipEnv;
  rmSync(TMPDIR, { recursive: true, force: true });
  mkdirSync(TMPDIR, { recursive: true });
  await showStep('Python environment', () => environment.createEnvironment(context, dir));
  if (engine === 'cpu') await showStep('PyTorch (CPU build)', () => environment.installTorchCpu(context, dir));
  await showStep(`vLLM (${engine} build), lm_eval, packages; some minutes`, () => environment.installPackages(context, dir, engine));
  rmSync(TMPDIR, { recursive: true, force: true });
  environment.sealEnvironment(dir, engine);
}

function finish({ home, engine, pythonVersion }, dir) {
  const redisServer = environment.findRedisServer(dir, pythonVersion);
  const { status, stdout } = spawnSync(redisServer, ['--version'], { encoding: 'utf8' });
  if (status !== 0) throw new SetupError(`${redisServer} does not run here`, 'Install redis-server or set REDIS_URL, and report this.');
  const python = environment.pythonOf(dir);
  writeJsonAtomic(environmentFile(home), { schema: SCHEMA, python, demoModel: demoModelDir(home), redisServer });
  if (!readComplete(home, engine)) throw new Error('the set-up finished but is not complete');
  return `server ${/v=([\d.]+)/.exec(stdout)?.[1] ?? ''}`;
}

/** environment.json, if everything it stands on is there and of the versions this clone pins. */
function readComplete(home, engine) {
  const found = readJson(environmentFile(home));
  const isComplete = found?.schema === SCHEMA
    && found.python === environment.pythonOf(environment.environmentDir(home, engine))
    && found.demoModel === demoModelDir(home)
    && existsSync(found.redisServer)
    && hasNodePackages()
    && environment.hasPythonEnvironment(home, engine)
    && hasDemoModel(home);
  return isComplete ? found : undefined;
}

const environmentFile = (home) => path.join(home, 'environment.json');

function createHome(home) {
  try {
    mkdirSync(home, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw new SetupError(`${home} cannot be created: ${error.message}`, 'Set ASSAY_HOME to a folder that can be written.');
  }
}
