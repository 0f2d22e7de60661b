import { describe, expect, it } from 'vitest';
import type { RunResult } from '../../../../src/agent/host/port.ts';
import { parseGpus, parseProcesses, smiFailure } from '../../../../src/agent/jobs/gpu/smi-output.ts';

const UUID = 'GPU-8f6b2a10-3c55-9d1e-0b7a-5f3c2e1d4a90';

describe('parseGpus', () => {
  it('reads index, UUID and address of each GPU', () => {
    const output = `0, ${UUID}, 00000000:3B:00.0\n1, ${UUID.replace('8f', '9f')}, 00000000:CB:00.0\n`;
    expect(parseGpus(output)).toEqual([
      { uuid: UUID, address: '0000:3b:00' },
      { uuid: UUID.replace('8f', '9f'), address: '0000:cb:00' },
    ]);
    expect(parseGpus('\n')).toEqual([]);
  });

  it.each([
    'Unable to determine the device handle for GPU0000:3B:00.0: Unknown Error',
    `0, ${UUID}, [N/A]`,
    '0, --id=1, 00000000:3B:00.0',
    `0, ${UUID}`,
  ])('R1 leaves no line out that it cannot read: %s', (line) => {
    expect(parseGpus(`1, ${UUID}, 00000000:CB:00.0\n${line}\n`)).toBe(line);
  });
});

describe('parseProcesses', () => {
  it('reads the processes, whatever their names have', () => {
    const output = `${UUID}, 4211, /usr/bin/python3\n${UUID}, 7, a, b\n${UUID}, 9, [Not Found]\n`;
    expect(parseProcesses(output)).toEqual([
      { uuid: UUID, pid: 4211, program: '/usr/bin/python3' },
      { uuid: UUID, pid: 7, program: 'a, b' },
      { uuid: UUID, pid: 9, program: '[Not Found]' },
    ]);
    expect(parseProcesses('')).toEqual([]);
  });

  it('R1 leaves no line out that it cannot read', () => {
    expect(parseProcesses('[Insufficient Permissions]\n')).toBe('[Insufficient Permissions]');
  });
});

describe('smiFailure', () => {
  it.each<[name: string, result: Partial<RunResult>, expected: string]>([
    [
      'a program that is missing',
      { exitCode: 127 },
      'ProgramMissing: nvidia-smi was not found: set nvidiaSmi in jobs.json of the host',
    ],
    ['a GPU that has no reset', { exitCode: 3 }, 'NotSupported: this GPU cannot be reset: reboot the node'],
    ['missing rights', { exitCode: 4 }, 'NotPermitted: nvidia-smi needs root: run the agent as root'],
    [
      'a driver that is not loaded',
      { exitCode: 9 },
      'DriverNotLoaded: the driver of NVIDIA is not loaded: load it, or reboot the node',
    ],
    [
      'a GPU that fell off the bus',
      { exitCode: 15 },
      'GPULost: the GPU fell off the bus: reboot the node, or cycle its power',
    ],
    [
      'a GPU that is in use',
      { exitCode: 255, output: '  GPU 00000000:3B:00.0: In use by another client\n' },
      'GPUInUse: another program uses the GPU, such as a monitor: stop it, or reboot the node',
    ],
    [
      'a part of the GPUs',
      {
        exitCode: 255,
        output:
          'GPU 00000000:3B:00.0 was successfully reset.\nGPU 00000000:CB:00.0: In use by another client\n',
      },
      'PartlyReset: not all GPUs were reset: GPU 00000000:CB:00.0: In use by another client. Reboot the node',
    ],
    [
      'anything else',
      { exitCode: 255, output: 'Unknown Error\n' },
      'ResetFailed: nvidia-smi ended with 255: Unknown Error',
    ],
    ['too much', { exitCode: 1, truncated: true }, 'GPUUnknown: nvidia-smi printed too much'],
  ])('explains %s', (_, result, expected) => {
    const { code, message } = smiFailure('nvidia-smi', {
      timedOut: false,
      output: '',
      truncated: false,
      ...result,
    });
    expect(`${code}: ${message}`).toBe(expected);
  });
});
