import { describe, expect, it } from 'vitest';
import type { StepResult } from '../../../../src/agent/jobs/steps/executor.ts';
import { resetGpuStep } from '../../../../src/agent/jobs/steps/reset-gpu.ts';
import { GPU_DIRECTORY, GPU_RESETS_FILE, JOBS_DIRECTORY } from '../../../../src/agent/layout.ts';
import type { ResetGPUInput } from '../../../../src/api/generated/steps.ts';
import { AgentKilled, type CrashPoint, crashAt } from '../../../support/agent/crashing-host.ts';
import { type GpuErrors, type GpuHost, withGpus } from '../../../support/agent/gpu-host.ts';
import { createJobHost, type JobHost } from '../../../support/agent/job-host.ts';
import { later, repairJob, stepProgress } from '../../../support/agent/jobs.ts';
import { ADDRESSES, LIST, UUIDS } from '../../../support/agent/nvidia-smi.ts';
import { stepContext, stepRun } from '../../../support/agent/step-context.ts';

const INPUT: ResetGPUInput = { gpus: 'WithErrors', codes: [48] };
const INTENT = `${JOBS_DIRECTORY}/job-1-s1-1/gpu-reset.json`;
const PROGRESS = stepProgress({ action: 'ResetGPU', input: INPUT });

interface Executed extends GpuHost {
  readonly result: StepResult | undefined;
  readonly jobs: JobHost;
  readonly again: () => Promise<StepResult | undefined>;
  readonly text: (path: string) => Promise<string>;
  readonly observe: () => Promise<{ readonly happened: string }>;
}

async function execute(errors: GpuErrors = {}, input = INPUT, timeoutMs = 60_000): Promise<Executed> {
  const jobs = await createJobHost();
  const gpus = await withGpus(jobs.host, jobs.clock.now(), errors);
  const context = await stepContext({ host: gpus.host, clock: jobs.clock });
  const again = async (): Promise<StepResult | undefined> =>
    await resetGpuStep.execute?.(context, input, stepRun({ timeoutMs }));
  return {
    ...gpus,
    jobs,
    result: await again(),
    again,
    text: async (path) => new TextDecoder().decode(await jobs.host.files.read(path)),
    observe: () => resetGpuStep.observe(context, PROGRESS),
  };
}

describe('the step ResetGPU', () => {
  it('is refused on a host without the driver', async () => {
    const jobs = await createJobHost();
    const { host } = await withGpus(jobs.host, jobs.clock.now());
    const context = await stepContext({ host, clock: jobs.clock });
    expect(await resetGpuStep.problem(context, INPUT)).toBeUndefined();
    await jobs.host.files.remove(GPU_DIRECTORY);
    expect(await resetGpuStep.problem(context, INPUT)).toMatchObject({ code: 'NoGPU' });
  });

  it('resets the GPU of the error, and records when', async () => {
    const { result, smi, text, observe } = await execute();
    expect(result).toMatchObject({ state: 'Succeeded', message: `reset GPU ${ADDRESSES[0]}` });
    expect(smi.calls().map((each) => each.split(' ').slice(0, 3).join(' '))).toEqual([
      '--query-gpu=index,uuid,pci.bus_id --format=csv,noheader',
      '--query-compute-apps=gpu_uuid,pid,process_name --format=csv,noheader',
      `--gpu-reset -i ${UUIDS[0]}`,
      '--query-gpu=index,uuid,pci.bus_id --format=csv,noheader',
    ]);
    expect(JSON.parse(await text(GPU_RESETS_FILE))).toEqual({ [ADDRESSES[0]]: '2030-01-01T12:00:00.000Z' });
    expect(await observe()).toMatchObject({ happened: 'Yes' });
  });

  it('resets all GPUs where that is asked for', async () => {
    const { smi } = await execute({ errors: [] }, { gpus: 'All', codes: [] });
    expect(smi.calls()).toContain(`--gpu-reset -i ${UUIDS.join(',')}`);
  });

  it('AGT-51 resets nothing a second time in one try', async () => {
    const { again, smi } = await execute();
    expect(await again()).toMatchObject({ state: 'Ambiguous' });
    expect(smi.resets()).toBe(1);
  });

  it.each<[name: string, errors: GpuErrors, code: string]>([
    ['no error', { errors: [] }, 'NoGPUError'],
    ['a GPU that is not listed', { list: `echo '${LIST[1]}'` }, 'GPULost'],
    ['a process on another GPU', { processes: `echo '${UUIDS[1]}, 42, python'` }, 'GPUInUse'],
    ['processes that are not known', { processes: 'exit 255' }, 'ResetFailed'],
    ['no driver', { list: 'exit 9' }, 'DriverNotLoaded'],
  ])('AGT-50 resets nothing for %s, and records no intent', async (_, errors, code) => {
    const { result, smi, jobs, observe } = await execute(errors);
    expect(result).toMatchObject({ state: 'Failed', code });
    expect(smi.resets()).toBe(0);
    expect(await jobs.host.files.stat(INTENT)).toBeUndefined();
    expect(await observe()).toMatchObject({ happened: 'No' });
  });

  it('AGT-53 begins no reset that its time would end in the middle', async () => {
    const { result, smi } = await execute({}, INPUT, 14_999);
    expect(result).toMatchObject({ state: 'Failed', code: 'TimedOut' });
    expect(smi.resets()).toBe(0);
  });

  it.each<[name: string, errors: GpuErrors, expected: object]>([
    ['is not supported', { reset: 'exit 3' }, { state: 'Failed', code: 'NotSupported' }],
    ['is ended by a signal', { reset: 'kill -KILL $$' }, { state: 'Ambiguous', code: 'Killed' }],
    [
      'leaves a GPU off the list',
      { list: `echo '${LIST[1]}'; [ -e "$0.done" ] || echo '${LIST[0]}'`, reset: 'touch "$0.done"' },
      { state: 'Failed', code: 'GPULost' },
    ],
    [
      'leaves a driver that lists nothing',
      { list: `[ -e "$0.done" ] && exit 9; echo '${LIST[0]}'`, reset: 'touch "$0.done"' },
      { state: 'Failed', code: 'ResetFailed' },
    ],
  ])('R37 takes no GPU for repaired when the reset %s', async (_, errors, expected) => {
    const { result, jobs, smi } = await execute(errors);
    expect(result).toMatchObject(expected);
    expect(smi.resets()).toBe(1);
    expect(await jobs.host.files.stat(GPU_RESETS_FILE)).toBeUndefined();
  });

  it('R1 knows nothing of a reset whose record is damaged, or that another reset followed', async () => {
    const { jobs, observe } = await execute({ reset: 'exit 255' });
    expect(await observe()).toMatchObject({ happened: 'Unknown' });
    await jobs.host.files.write(INTENT, new TextEncoder().encode('{"gp'), {
      mode: '0600',
      owner: 'root:root',
    });
    expect(await observe()).toMatchObject({ happened: 'Unknown' });
    await jobs.host.node.reboot();
    expect(await observe()).toMatchObject({ happened: 'Yes' });
  });
});

/** How often a GPU may have been reset, by the end that is reported. */
const RESETS: Readonly<Record<string, readonly number[]>> = {
  'Ambiguous Unknown': [0, 1],
  'Failed Interrupted': [0],
  Succeeded: [1],
};

it('AGT-51 resets a GPU at most once, and always reports an end, although the agent is killed at any call', async () => {
  const calm = await run();
  expect([end(calm.jobs), calm.resets]).toEqual(['Succeeded', 1]);
  const ends = new Set<string>();
  for (const [index, name] of calm.calls.entries()) {
    for (const when of ['before', 'after'] as const) {
      const { jobs, resets } = await run({ call: index + 1, when });
      const where = `killed ${when} call ${index + 1}: ${name}`;
      expect(RESETS[end(jobs)] ?? [], `${where} ended ${end(jobs)}`).toContain(resets);
      ends.add(end(jobs));
    }
  }
  expect([...ends].toSorted()).toEqual(Object.keys(RESETS));
});

interface SweptHost {
  readonly jobs: JobHost;
  readonly calls: readonly string[];
  readonly resets: number;
}

async function run(point?: CrashPoint): Promise<SweptHost> {
  const jobs = await createJobHost();
  const { host, smi } = await withGpus(jobs.host, jobs.clock.now());
  await jobs.run(await jobs.start(host), 2);
  const plan = { step: 'ResetGPU@v1', with: { ...INPUT } };
  const release = { notAfter: later(50, jobs.clock.now()) };
  jobs.api.repairs.set('job-1', repairJob({ plan, release }));
  const crashing = crashAt(host, point);
  try {
    await jobs.run(await jobs.start(crashing.host), 10);
    if (point) await jobs.run(await jobs.start(host), 70);
  } catch (error) {
    if (!(error instanceof AgentKilled)) throw error;
    await jobs.run(await jobs.start(host), 70);
  }
  return { jobs, calls: crashing.calls, resets: smi.resets() };
}

function end(jobs: JobHost): string {
  const { state, code } = jobs.answer() ?? {};
  return `${state}${code === undefined ? '' : ` ${code}`}`;
}
