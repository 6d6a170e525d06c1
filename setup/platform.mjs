// What the machine must have: Linux on x86-64 with glibc, Python 3.11 with venv, and room on the disk.
import { spawnSync } from 'node:child_process';
import { existsSync, statfsSync } from 'node:fs';
import path from 'node:path';
import { SetupError } from './failure.mjs';

const GIB = 2 ** 30;
const PYTHON_NAMES = ['python3.11', 'python3', 'python', 'python3.12'];
const DESCRIBE = `import importlib.util as u, json, platform, sys
print(json.dumps({"executable": getattr(sys, "_base_executable", None) or sys.executable, "version": list(sys.version_info[:3]), "libc": platform.libc_ver()[0],
  "venv": all(u.find_spec(name) is not None for name in ("venv", "ensurepip"))}))`;

export function checkPlatform() {
  if (process.platform === 'linux' && process.arch === 'x64') return;
  throw new SetupError(
    `this machine is ${process.platform} ${process.arch}; Assay runs on Linux x86-64`,
    'Use a Linux x86-64 machine, a virtual machine or a container.',
  );
}

/** Refuses a disk that the set-up would fill. */
export function checkDisk(dir, neededGib) {
  const existing = nearestExisting(dir);
  const { bavail, bsize } = statfsSync(existing);
  const freeGib = (bavail * bsize) / GIB;
  if (freeGib >= neededGib) return;
  throw new SetupError(
    `no space: ${existing} has ${freeGib.toFixed(1)} GiB free, ${neededGib} GiB needed`,
    'Free some space, or set ASSAY_HOME to a folder on a larger disk.',
  );
}

/**
 * The interpreter that the environment is made from: {executable, version, note}. 3.11 is what is tested; 3.12 is accepted.
 * ASSAY_SETUP_PYTHON overrides the search.
 */
export function findPython(env = process.env) {
  const names = env.ASSAY_SETUP_PYTHON ? [env.ASSAY_SETUP_PYTHON] : PYTHON_NAMES;
  const found = names.map(describePython).filter((python) => python !== undefined);
  const usable = found.filter(({ minor, venv, libc }) => (minor === 11 || minor === 12) && venv && libc === 'glibc');
  const best = usable.find(({ minor }) => minor === 11) ?? usable[0];
  if (!best) throw explainPython(found, env);
  return { ...best, note: best.minor === 11 ? '' : ' (untested; 3.11 is what is tested)' };
}

function describePython(name) {
  const { status, stdout } = spawnSync(name, ['-c', DESCRIBE], { encoding: 'utf8', timeout: 20_000 });
  if (status !== 0) return undefined;
  try {
    const { executable, version, venv, libc } = JSON.parse(stdout);
    const [major, minor] = version;
    return { executable, version: version.join('.'), minor: major === 3 ? minor : -1, venv, libc };
  } catch {
    return undefined;
  }
}

function explainPython(found, env) {
  const install = 'Install Python 3.11 with venv (Debian and Ubuntu: apt install python3.11-venv), or name one in ASSAY_SETUP_PYTHON.';
  const right = found.find(({ minor }) => minor === 11 || minor === 12);
  if (right && !right.venv) return new SetupError(`Python ${right.version} (${right.executable}) has no venv module`, install);
  if (right) return new SetupError(`Python ${right.version} (${right.executable}) is not built for glibc, which the engine needs`, install);
  const wrong = found[0];
  if (!wrong) return new SetupError(`no Python found (${env.ASSAY_SETUP_PYTHON ?? PYTHON_NAMES.join(', ')})`, install);
  const age = wrong.minor < 11 ? 'too old' : 'too new';
  return new SetupError(`Python ${wrong.version} (${wrong.executable}) is ${age}: 3.11 is needed`, install);
}

/** True where an NVIDIA driver lists a GPU; ASSAY_SETUP_ENGINE=cpu|cuda overrides it. */
export function hasNvidiaGpu(env = process.env) {
  if (env.ASSAY_SETUP_ENGINE) return env.ASSAY_SETUP_ENGINE === 'cuda';
  const { status, stdout } = spawnSync('nvidia-smi', ['-L'], { encoding: 'utf8', timeout: 30_000 });
  return status === 0 && stdout.includes('GPU ');
}

function nearestExisting(dir) {
  return existsSync(dir) ? dir : nearestExisting(path.dirname(dir));
}
