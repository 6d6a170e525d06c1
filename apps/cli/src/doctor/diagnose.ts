// From facts to findings: what is wrong with this machine and what to do about it. A pure table of checks.
import { ERRORS, formatBytes, GIB } from '@assay/domain';
import { describeLeftOut, NEEDED_PACKAGES, type PythonFacts, type RedisFacts } from '@assay/pipeline';
import { MIN_FREE_BYTES } from '@assay/store';
import type { MachineFacts } from './probe-machine.ts';

/** What a check found wrong, in the words of its error. */
export interface Trouble {
  problem: string;
  remedy: string;
}

export interface DoctorFacts {
  home: string;
  machine: MachineFacts;
  /** Path of the interpreter; undefined where no set-up has run. */
  pythonPath: string | undefined;
  python: PythonFacts | Trouble | undefined;
  redis: RedisFacts;
  /** undefined: no demo model; null: there and usable. */
  demoModel: Trouble | null | undefined;
}

export interface Finding {
  check: string;
  level: 'ok' | 'warning' | 'problem';
  text: string;
  remedy: string | null;
}

const SETUP = 'Run `npm run setup` in the clone.';
const LOW_DISK_BYTES = 2 * GIB;
const TESTED_PYTHON = '3.11.';

const ok = (check: string, text: string): Finding => ({ check, level: 'ok', text, remedy: null });
const warning = (check: string, text: string, remedy: string): Finding => ({ check, level: 'warning', text, remedy });
const problem = (check: string, text: string, remedy: string): Finding => ({ check, level: 'problem', text, remedy });

export function diagnose(facts: DoctorFacts): Finding[] {
  return [checkPlatform(facts), checkNode(facts), checkPython(facts), ...checkPackages(facts), checkRedis(facts), checkDemoModel(facts), ...checkDevices(facts), checkDisk(facts)];
}

function checkPlatform({ machine }: DoctorFacts): Finding {
  const text = machine.platform;
  return text === 'linux-x64' ? ok('platform', text) : warning('platform', `${text} is untested`, 'Use Linux on x86-64.');
}

function checkNode({ machine }: DoctorFacts): Finding {
  const major = Number(machine.node.split('.')[0]);
  return major >= 24 ? ok('node', machine.node) : problem('node', `${machine.node} is too old`, 'Start the command as `./assay` or `npx assay`, which bring their own Node.');
}

function checkPython({ pythonPath, python }: DoctorFacts): Finding {
  if (python === undefined) return problem('python', 'no environment has been set up', ERRORS.PYTHON_MISSING.remedy);
  if ('problem' in python) return problem('python', python.problem, python.remedy);
  if (!python.version.startsWith(TESTED_PYTHON)) return warning('python', `${python.version} is untested (${pythonPath})`, 'Use Python 3.11.');
  return ok('python', `${python.version} (${pythonPath})`);
}

function checkPackages({ python }: DoctorFacts): Finding[] {
  if (python === undefined || 'problem' in python) return [];
  return NEEDED_PACKAGES.map((names) => {
    const found = names.find((name) => python.packages[name] !== undefined);
    return found === undefined ? problem(names.join(' or '), 'is not installed', ERRORS.PYTHON_MISSING.remedy) : ok(found, python.packages[found] as string);
  });
}

function checkRedis({ redis }: DoctorFacts): Finding {
  if (redis.source === 'none') return problem('redis', 'no server found', ERRORS.REDIS_MISSING.remedy);
  if (redis.problem !== null) return problem('redis', redis.problem, redis.remedy ?? ERRORS.REDIS_UNREACHABLE.remedy);
  return ok('redis', `${redis.place} (${redis.source})`);
}

function checkDemoModel({ demoModel }: DoctorFacts): Finding {
  if (demoModel === undefined) return warning('demo model', 'not there', `Needed by \`npm run demo\` only. ${SETUP}`);
  // Its files are the set-up's, which makes them again: a hub's remedies do not fit.
  return demoModel === null ? ok('demo model', 'complete') : warning('demo model', demoModel.problem, SETUP);
}

const DEVICE_REMEDIES: readonly (readonly [id: RegExp, remedy: string])[] = [
  [/^(GPU|MIG)-/, 'No run takes it as it is. Free or mend it, or choose others with CUDA_VISIBLE_DEVICES.'],
  [/^CUDA_VISIBLE_DEVICES$/, 'Let it name devices that `nvidia-smi -L` lists, or unset it to use them all.'],
  [/./, 'Run `nvidia-smi` and mend what it reports.'],
];

/** A run uses what is left, so a device that is left out is a warning. */
function checkDevices({ machine }: DoctorFacts): Finding[] {
  return machine.leftOut.map((device) => {
    const [, remedy = ''] = DEVICE_REMEDIES.find(([id]) => id.test(device.id)) ?? [];
    return warning('gpu', `left out: ${describeLeftOut(device)}`, remedy);
  });
}

function checkDisk({ machine, home }: DoctorFacts): Finding {
  const text = `${formatBytes(machine.diskFreeBytes)} free at ${home}`;
  if (machine.diskFreeBytes < MIN_FREE_BYTES) return problem('disk', text, 'Free some space; nothing can be written.');
  return machine.diskFreeBytes < LOW_DISK_BYTES ? warning('disk', text, 'Free some space, or set ASSAY_HOME to another disk.') : ok('disk', text);
}
