/** The adapter runs a real program, which is not that of NVIDIA. */
import { describe, expect, it } from 'vitest';
import type { HostProcesses } from '../../../../src/agent/host/port.ts';
import { run } from '../../../../src/agent/host/run-with-limits.ts';
import { createNvidiaSmi, type NvidiaSmi } from '../../../../src/agent/jobs/gpu/nvidia-smi.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { ADDRESSES, type SmiAnswers, UUIDS, writeSmi } from '../../../support/agent/nvidia-smi.ts';
import { tempFolder } from '../../../support/temp.ts';
import { settle, virtualClock } from '../../../support/virtual-clock.ts';

const GPUS = UUIDS.map((uuid, index) => ({ uuid, address: ADDRESSES[index] ?? '' }));
const clock = createSystemClock();

/** Stands for a process that waits in the kernel, which a test cannot make. */
const endless: HostProcesses['run'] = async () => await new Promise(() => {});

function open(answers: SmiAnswers = {}): {
  readonly smi: NvidiaSmi;
  readonly calls: () => readonly string[];
} {
  const program = writeSmi(tempFolder('gpu'), answers);
  return { smi: createNvidiaSmi({ processes: { run }, clock }, program.path), calls: () => program.calls() };
}

describe('nvidia-smi', () => {
  it('lists GPUs and the processes on them with arguments of our own', async () => {
    const { smi, calls } = open({ processes: `echo '${UUIDS[1]}, 42, python'` });
    expect(await smi.gpus()).toEqual(GPUS);
    expect(await smi.processes()).toEqual([{ uuid: UUIDS[1], pid: 42, program: 'python' }]);
    expect(calls()).toEqual([
      '--query-gpu=index,uuid,pci.bus_id --format=csv,noheader',
      '--query-compute-apps=gpu_uuid,pid,process_name --format=csv,noheader',
    ]);
  });

  it('resets the named GPUs in one call, as those with a common link need', async () => {
    const { smi, calls } = open();
    expect(await smi.reset(GPUS, 20_000)).toMatchObject({ result: 'Reset' });
    expect(calls()).toEqual([`--gpu-reset -i ${UUIDS.join(',')}`]);
  });

  it.each<[name: string, answers: SmiAnswers, code: string]>([
    ['no driver', { list: 'echo "NVIDIA-SMI has failed"; exit 9' }, 'DriverNotLoaded'],
    ['a line of an error', { list: 'echo "Unable to determine the device handle"' }, 'GPUUnknown'],
  ])('R1 lists nothing when it meets %s', async (_, answers, code) => {
    expect(await open(answers).smi.gpus()).toMatchObject({ code });
  });

  it('explains a program that does not exist', async () => {
    const smi = createNvidiaSmi({ processes: { run }, clock }, `${tempFolder('gpu')}/nvidia-smi`);
    expect(await smi.gpus()).toMatchObject({ code: 'ProgramMissing' });
  });

  it.each<[name: string, reset: string, expected: object]>([
    ['that is not supported', 'exit 3', { result: 'Failed', code: 'NotSupported' }],
    ['without rights', 'exit 4', { result: 'Failed', code: 'NotPermitted' }],
    [
      'of a GPU in use',
      'echo "GPU 00000000:3B:00.0: In use by another client"; exit 255',
      { result: 'Failed', code: 'GPUInUse' },
    ],
    ['that a signal ends', 'kill -SEGV $$', { result: 'Killed', code: 'Killed' }],
  ])('AGT-53 answers with the reason for a reset %s', async (_, reset, expected) => {
    expect(await open({ reset }).smi.reset(GPUS, 20_000)).toMatchObject(expected);
  });

  it('AGT-53 kills a reset that ignores signals at its time limit', async () => {
    const { smi } = open({ reset: 'trap "" TERM INT HUP; while :; do sleep 0.1; done' });
    expect(await smi.reset(GPUS, 500)).toMatchObject({ result: 'Failed', code: 'TimedOut' });
  });

  it('AGT-53 waits no longer for a program in the kernel, which SIGKILL does not end', async () => {
    const time = virtualClock();
    const smi = createNvidiaSmi({ processes: { run: endless }, clock: time }, 'nvidia-smi');
    const answers: unknown[] = [];
    void smi.reset(GPUS, 60_000).then((answer) => answers.push(answer));
    void smi.gpus().then((answer) => answers.push(answer));
    await time.advance(34_999);
    await settle();
    expect(answers).toEqual([]);
    await time.advance(30_001);
    await settle();
    expect(answers).toMatchObject([{ code: 'GPUHangs' }, { result: 'NotEnded', code: 'GPUHangs' }]);
  });
});
