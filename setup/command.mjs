// Runs the tools of the set-up, their output in the log. A child dies with the set-up and keeps its locks until it is dead.
import { spawn } from 'node:child_process';
import { closeSync, fstatSync, mkdirSync, openSync, readdirSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';
import { explainFailure } from './failure.mjs';
import { setupDir } from './home.mjs';

const KEPT_LOGS = 10;

/** Opens ASSAY_HOME/logs/setup-<time>.log and removes the oldest ones. */
export function openLog(home) {
  const dir = path.join(home, 'logs');
  mkdirSync(dir, { recursive: true });
  const old = readdirSync(dir).filter((name) => name.startsWith('setup-')).sort();
  for (const name of old.slice(0, -KEPT_LOGS)) rmSync(path.join(dir, name), { force: true });
  const time = new Date().toISOString().replace(/[:.]/g, '-');
  const file = path.join(dir, `setup-${time}-${process.pid}.log`);
  return { file, descriptor: openSync(file, 'a') };
}

/** Runs `command` to its end. `context` is {log, python, locks}; throws a SetupError that names `step`. */
export async function runLogged(context, step, command, { env = {}, cwd, allowFailure = false } = {}) {
  const { log, python, locks } = context;
  writeSync(log.descriptor, `\n$ ${command.join(' ')}\n`);
  const offset = fstatSync(log.descriptor).size;
  const child = spawn(python, [path.join(setupDir, 'with-parent.py'), String(process.pid), ...command], {
    cwd,
    env: childEnvironment(env),
    stdio: ['ignore', log.descriptor, log.descriptor, ...locks],
  });
  const exit = await waitForExit(child);
  if (exit === 'exit 0') return true;
  if (allowFailure) return false;
  throw explainFailure({ step, logFile: log.file, offset, exit });
}

export function closeLog(log) {
  closeSync(log.descriptor);
}

/** Variables of the caller's Python would leak another environment into ours. */
function childEnvironment(extra) {
  const { PYTHONPATH, PYTHONHOME, PIP_USER, PIP_TARGET, PIP_PREFIX, PIP_REQUIRE_VIRTUALENV, NODE_ENV, ...rest } = process.env;
  return { ...rest, PYTHONNOUSERSITE: '1', ...extra };
}

function waitForExit(child) {
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit ${code}`));
  });
}
