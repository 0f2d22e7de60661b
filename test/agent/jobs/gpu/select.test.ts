import { describe, expect, it } from 'vitest';
import { type GpuSelection, inUseProblem, selectGpus } from '../../../../src/agent/jobs/gpu/select.ts';
import { NOW } from '../../../support/virtual-clock.ts';

const GPUS = ['0000:3b:00', '0000:5e:00', '0000:cb:00'].map((address, index) => ({
  uuid: `GPU-0000000${index}-0000-0000-0000-000000000000`,
  address,
}));

function error(code: number, gpu: number, secondsAgo = 60): GpuSelection['logged'][number] {
  return {
    code,
    address: GPUS[gpu]?.address ?? '0000:ff:00',
    at: new Date(NOW.getTime() - secondsAgo * 1000),
  };
}

function select(change: Partial<GpuSelection>): string {
  const usual: GpuSelection = {
    input: { gpus: 'WithErrors', codes: [] },
    listed: GPUS,
    logged: [],
    resets: new Map(),
    now: NOW,
  };
  const selected = selectGpus({ ...usual, ...change });
  return 'code' in selected
    ? `${selected.code}: ${selected.message}`
    : selected.map(({ address }) => address).join(' ');
}

const NONE = 'NoGPUError: no GPU has such an error since the last boot or reset';
const reset = (gpu: number, secondsAgo: number): GpuSelection['resets'] =>
  new Map([[GPUS[gpu]?.address ?? '', new Date(NOW.getTime() - secondsAgo * 1000)]]);

describe('selectGpus', () => {
  it.each<[name: string, change: Partial<GpuSelection>, expected: string]>([
    ['the GPU with an error', { logged: [error(48, 1)] }, '0000:5e:00'],
    ['each GPU once', { logged: [error(48, 2), error(48, 0), error(119, 2)] }, '0000:3b:00 0000:cb:00'],
    [
      'errors with these codes only',
      { input: { gpus: 'WithErrors', codes: [48] }, logged: [error(48, 0), error(31, 1)] },
      '0000:3b:00',
    ],
    [
      'all GPUs where they are asked for',
      { input: { gpus: 'All', codes: [] } },
      '0000:3b:00 0000:5e:00 0000:cb:00',
    ],
    ['an error after the last reset', { logged: [error(48, 1)], resets: reset(1, 90) }, '0000:5e:00'],
    ['nothing after a reset', { logged: [error(48, 1)], resets: reset(1, 30) }, NONE],
    ['nothing without errors', {}, NONE],
    [
      'nothing where one of the GPUs is lost',
      { logged: [error(48, 1), error(79, 9)] },
      'GPULost: nvidia-smi does not list GPU 0000:ff:00: reboot the node, or cycle its power',
    ],
    [
      'nothing where no GPU is listed',
      { input: { gpus: 'All', codes: [] }, listed: [] },
      'NoGPU: nvidia-smi lists no GPU: check the driver, then reboot the node',
    ],
  ])('selects %s', (_, change, expected) => {
    expect(select(change)).toBe(expected);
  });
});

describe('inUseProblem', () => {
  const used = { uuid: GPUS[2]?.uuid ?? '', pid: 4211, program: '/opt/venv/bin/python3' };

  it('is nothing while no process computes', () => {
    expect(inUseProblem([])).toBeUndefined();
  });

  it('names the process, and how many others there are', () => {
    expect(inUseProblem([used])?.message).toBe(
      'process 4211 (/opt/venv/bin/python3) uses a GPU: end it, or reboot the node',
    );
    expect(inUseProblem([used, used, used])?.message).toContain('(/opt/venv/bin/python3) and 2 more uses');
    const long = inUseProblem([{ ...used, program: 'x'.repeat(900) }])?.message ?? '';
    expect(long.length).toBeLessThan(160);
  });
});
