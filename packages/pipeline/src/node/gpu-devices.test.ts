import { join } from 'node:path';
import { MIB } from '@assay/domain';
import { describe, expect, it, test } from 'vitest';
import { surveyGpus } from './gpu-devices.ts';
import { writeScript, writeStandIn } from './nvidia-smi-fixture.ts';
import { findErrorWhenStarved } from '../../../../test/support/starved.ts';
import { makeTempDir } from '../../../../test/support/temp-dir.ts';

const OWN_PID = 777;
const survey = (env: Record<string, string>, timeoutMs = 20_000) => surveyGpus({ env, timeoutMs, isOwn: (pid) => pid === OWN_PID });
const uuidOf = (index: number) => `GPU-${index}932f937-d72c-4106-c12f-20bd9faed9f${index}`;
const gpusOf = (count: number) => Array.from({ length: count }, (_, index) => ({ uuid: uuidOf(index) }));

describe.each([1, 4, 8])('a node of %i GPUs', (count) => {
  it('has them all by UUID, with memory, capability, driver and links', async () => {
    const { gpus, leftOut, driver } = await survey(writeStandIn(makeTempDir(), { gpus: gpusOf(count) }));
    expect({ leftOut, driver }).toEqual({ leftOut: [], driver: '550.54.15' });
    expect(gpus).toEqual(gpusOf(count).map(({ uuid }) => ({
      id: uuid, name: 'NVIDIA H100 80GB HBM3', memoryBytes: 81_559 * MIB, freeBytes: 81_079 * MIB, isMig: false, computeCapability: '9.0', numaNode: 0,
      nvlinkPeers: gpusOf(count).map((other) => other.uuid).filter((other) => other !== uuid),
    })));
  });
});

test('GPUs on a bus of their own have no links, and each has its NUMA node', async () => {
  const env = writeStandIn(makeTempDir(), { gpus: [{ uuid: uuidOf(0), numa: 0 }, { uuid: uuidOf(1), numa: 1 }], link: 'SYS' });
  const { gpus } = await survey(env);
  expect(gpus.map(({ nvlinkPeers, numaNode }) => ({ nvlinkPeers, numaNode }))).toEqual([{ nvlinkPeers: [], numaNode: 0 }, { nvlinkPeers: [], numaNode: 1 }]);
});

test('an older driver that knows no capability is asked without it', async () => {
  const { gpus, leftOut } = await survey(writeStandIn(makeTempDir(), { gpus: gpusOf(2), unknownFields: ['compute_cap'] }));
  expect(leftOut).toEqual([]);
  expect(gpus.map(({ computeCapability }) => computeCapability)).toEqual([undefined, undefined]);
});

describe('a GPU that others use', () => {
  it('is left out with the pid, the program and its memory named; a process of this run does not count', async () => {
    const processes = [
      { uuid: uuidOf(1), pid: 4242, name: 'python3', usedMib: 17_654 }, { uuid: uuidOf(1), pid: 4243, name: '/opt/my, server' }, { uuid: uuidOf(2), pid: OWN_PID, name: 'python3', usedMib: 10 },
    ];
    const { gpus, leftOut } = await survey(writeStandIn(makeTempDir(), { gpus: gpusOf(4), processes }));
    expect(gpus.map(({ id }) => id)).toEqual([uuidOf(0), uuidOf(2), uuidOf(3)]);
    expect(leftOut).toEqual([{
      id: uuidOf(1), name: 'NVIDIA H100 80GB HBM3', why: 'in use by process 4242 (python3, 17.2 GiB) and process 4243 (/opt/my, server), which this run did not start',
    }]);
  });

  it('is said to admit one process alone where its compute mode is exclusive', async () => {
    const gpus = [{ uuid: uuidOf(0), computeMode: 'Exclusive_Process' }, { uuid: uuidOf(1), computeMode: 'Exclusive_Process' }];
    const found = await survey(writeStandIn(makeTempDir(), { gpus, processes: [{ uuid: uuidOf(0), pid: 9, name: 'trainer', usedMib: 512 }] }));
    expect(found.gpus.map(({ id }) => id)).toEqual([uuidOf(1)]);
    expect(found.leftOut.map(({ why }) => why)).toEqual(['in use by process 9 (trainer, 512.0 MiB), which this run did not start; its compute mode admits one process alone']);
  });

  it('is used, and the doubt named, where the processes cannot be listed', async () => {
    const found = await survey(writeStandIn(makeTempDir(), { gpus: gpusOf(1), failing: { '--query-compute-apps': 'Insufficient Permissions' } }));
    expect(found.gpus).toHaveLength(1);
    expect(found.leftOut).toEqual([{ id: 'nvidia-smi', name: 'nvidia-smi', why: 'the processes on the GPUs could not be listed: nvidia-smi ended with exit code 9: Insufficient Permissions' }]);
  });
});

test('a GPU in compute mode Prohibited and one whose memory cannot be read are left out', async () => {
  const gpus = [{ uuid: uuidOf(0), computeMode: 'Prohibited' }, { uuid: uuidOf(1), totalMib: '[GPU is lost]', freeMib: '[GPU is lost]' }, { uuid: uuidOf(2) }];
  const found = await survey(writeStandIn(makeTempDir(), { gpus }));
  expect(found.gpus.map(({ id }) => id)).toEqual([uuidOf(2)]);
  expect(found.leftOut.map(({ why }) => why)).toEqual(['its compute mode is Prohibited: no process may use it', 'nvidia-smi does not say how much memory it has ("[GPU is lost]")']);
});

describe('a GPU in slices', () => {
  const slice = (profile: string, place: number, totalMib: number) => ({ profile, uuid: `MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3${place}`, totalMib, freeMib: totalMib - 25, instance: place + 7 });
  const cut = { uuid: uuidOf(0), name: 'NVIDIA A100-SXM4-40GB', totalMib: 40_960, slices: [slice('3g.20gb', 0, 19_968), slice('1g.5gb', 1, 4864)] };

  it('is its slices, each with its own id and memory, beside a whole GPU', async () => {
    const { gpus, leftOut } = await survey(writeStandIn(makeTempDir(), { gpus: [cut, { uuid: uuidOf(1) }], link: 'SYS' }));
    expect(leftOut).toEqual([]);
    expect(gpus.map(({ id, name, memoryBytes, freeBytes, isMig }) => ({ id, name, mib: memoryBytes / MIB, freeMib: freeBytes / MIB, isMig }))).toEqual([
      { id: cut.slices[0]?.uuid, name: 'NVIDIA A100-SXM4-40GB MIG 3g.20gb', mib: 19_968, freeMib: 19_943, isMig: true },
      { id: cut.slices[1]?.uuid, name: 'NVIDIA A100-SXM4-40GB MIG 1g.5gb', mib: 4864, freeMib: 4839, isMig: true },
      { id: uuidOf(1), name: 'NVIDIA H100 80GB HBM3', mib: 81_559, freeMib: 81_079, isMig: false },
    ]);
  });

  it('loses only the slice that somebody uses', async () => {
    const found = await survey(writeStandIn(makeTempDir(), { gpus: [cut], processes: [{ uuid: uuidOf(0), pid: 31, name: 'python', instance: 8 }] }));
    expect(found.gpus.map(({ id }) => id)).toEqual([cut.slices[0]?.uuid]);
    expect(found.leftOut).toEqual([{ id: cut.slices[1]?.uuid, name: 'NVIDIA A100-SXM4-40GB MIG 1g.5gb', why: 'in use by process 31 (python), which this run did not start' }]);
  });

  it('is chosen by the slice\'s id, or by the GPU\'s number for its first slice', async () => {
    const env = writeStandIn(makeTempDir(), { gpus: [cut] });
    for (const [visible, place] of [[cut.slices[1]?.uuid, 1], ['0', 0], [uuidOf(0), 0]] as const) {
      expect((await survey({ ...env, CUDA_VISIBLE_DEVICES: String(visible) })).gpus.map(({ id }) => id)).toEqual([cut.slices[place]?.uuid]);
    }
  });

  it('is left out where it has none, and a slice whose memory cannot be read too', async () => {
    const none = await survey(writeStandIn(makeTempDir(), { gpus: [{ uuid: uuidOf(0), slices: [] }] }));
    expect(none.leftOut).toEqual([{ id: uuidOf(0), name: 'NVIDIA H100 80GB HBM3', why: 'it is in MIG mode and has no slice to use' }]);
    const blind = await survey(writeStandIn(makeTempDir(), { gpus: [cut], failing: { '-q': 'Unknown Error' } }));
    expect(blind.gpus).toEqual([]);
    expect(blind.leftOut.map(({ why }) => why)).toEqual([
      'the memory of the slices could not be listed: nvidia-smi ended with exit code 9: Unknown Error', 'nvidia-smi does not say how much memory it has', 'nvidia-smi does not say how much memory it has',
    ]);
  });
});

describe('an nvidia-smi in trouble is no GPU, and says so', () => {
  const about = (why: string) => ({ gpus: [], leftOut: [{ id: 'nvidia-smi', name: 'nvidia-smi', why }] });

  it('not where there is none', async () => {
    expect(await survey({ PATH: makeTempDir() })).toEqual({ gpus: [], leftOut: [] });
  });

  it('when it fails', async () => {
    const said = 'NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver. Make sure that the latest NVIDIA driver is installed and running.';
    expect(await survey(writeScript(makeTempDir(), `console.log(${JSON.stringify(`${said}\n`)}); process.exit(9);`))).toEqual(about(`nvidia-smi ended with exit code 9: ${said}`));
  });

  it('when it sees no device', async () => {
    expect(await survey(writeScript(makeTempDir(), 'console.log("No devices were found"); process.exit(6);'))).toEqual(about('nvidia-smi ended with exit code 6: No devices were found'));
    expect(await survey(writeScript(makeTempDir(), ''))).toEqual(about('nvidia-smi lists no GPU'));
  });

  it('not where it cannot be started for want of file descriptors: that says nothing about GPUs', async () => {
    const imports = { [join(import.meta.dirname, 'gpu-devices.ts')]: '{ surveyGpus }' };
    expect(await findErrorWhenStarved({ imports, left: 3, act: 'surveyGpus({ env: process.env, timeoutMs: 9000, isOwn: () => false })' })).toBe('TOO_MANY_FILES');
  });

  it('when it prints garbage', async () => {
    expect(await survey(writeScript(makeTempDir(), 'console.log("\\u0000\\u0001 segfault, at, 0")'))).toMatchObject({ gpus: [], leftOut: [{ id: 'nvidia-smi', why: expect.stringMatching(/printed what is no GPU: ".*segfault, at, 0"/) }] });
  });

  it('when it hangs, also where it cannot be ended gently', async () => {
    expect(await survey(writeScript(makeTempDir(), 'process.on("SIGTERM", () => {}); setInterval(() => {}, 1e6);'), 1000)).toEqual(about('nvidia-smi did not answer within 1 s'));
  });

  it('when one line of several is no GPU', async () => {
    const row = `1, ${uuidOf(1)}, NVIDIA L4, 23034, 22491, Default, [N/A], 535.183.01, 8.9`;
    const found = await survey(writeScript(makeTempDir(), `console.log(process.argv[2].startsWith('--query-gpu') ? ${JSON.stringify(`Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error\n${row}`)} : '')`));
    expect(found.gpus.map(({ id }) => id)).toEqual([uuidOf(1)]);
    expect(found.leftOut.map(({ why }) => why)).toEqual(['nvidia-smi printed what is no GPU: "Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error"']);
  });
});

describe('CUDA_VISIBLE_DEVICES', () => {
  it.each(['5', '1,5', 'GPU-ffffffff'])('=%s, which names a device that the node lacks, is refused with those that it has', async (visible) => {
    const env = { ...writeStandIn(makeTempDir(), { gpus: gpusOf(2) }), CUDA_VISIBLE_DEVICES: visible };
    const names = visible.split(',').at(-1);
    await expect(survey(env)).rejects.toMatchObject({ code: 'DEVICE_UNKNOWN', message: `CUDA_VISIBLE_DEVICES names ${names}, and this node has 0 (${uuidOf(0)}), 1 (${uuidOf(1)})` });
  });

  it.each([['', 'empty'], [' ', 'empty'], ['-1', '-1'], ['NoDevFiles,0', 'NoDevFiles,0']])('="%s" leaves the GPUs out and says that the run is on the CPU', async (visible, shown) => {
    const found = await survey({ ...writeStandIn(makeTempDir(), { gpus: gpusOf(2) }), CUDA_VISIBLE_DEVICES: visible });
    const why = `CUDA_VISIBLE_DEVICES is ${shown}, so the 2 GPUs of this node are not used: this run is on the CPU`;
    expect(found).toMatchObject({ gpus: [], leftOut: [{ id: 'CUDA_VISIBLE_DEVICES', why }] });
  });

  it('says that the run is on the CPU where it names a GPU and the driver shows none', async () => {
    const why = 'CUDA_VISIBLE_DEVICES is 0, and no GPU was found here: this run is on the CPU';
    expect((await survey({ PATH: makeTempDir(), CUDA_VISIBLE_DEVICES: '0' })).leftOut).toMatchObject([{ why }]);
    expect((await survey({ ...writeScript(makeTempDir(), 'process.exit(9);'), CUDA_VISIBLE_DEVICES: '0' })).leftOut).toMatchObject([{ id: 'nvidia-smi' }, { why }]);
    expect(await survey({ PATH: makeTempDir(), CUDA_VISIBLE_DEVICES: '' })).toEqual({ gpus: [], leftOut: [] });
  });
});
