/** Reads what nvidia-smi prints, and what its exit codes mean. Pure. */
import { normalizeAddress } from '../../facts/xid.ts';
import type { RunResult } from '../../host/port.ts';
import type { StepProblem } from '../input.ts';

export interface ListedGpu {
  readonly uuid: string;
  /** The address as in the kernel log: 0000:3b:00. */
  readonly address: string;
}

export interface GpuProcess {
  readonly uuid: string;
  readonly pid: number;
  readonly program: string;
}

const GPU_LINE = /^\d{1,4}, (GPU-[0-9a-f-]{32,40}), ([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7])$/i;
const PROCESS_LINE = /^(GPU-[0-9a-f-]{32,40}), (\d{1,10}), (.*)$/i;

/** Returns the GPUs; a text is a line that is not one: what cannot be read must not be left out. */
export function parseGpus(output: string): readonly ListedGpu[] | string {
  return parseLines(output, (line) => {
    const [, uuid, bus] = GPU_LINE.exec(line) ?? [];
    return uuid !== undefined && bus !== undefined ? { uuid, address: normalizeAddress(bus) } : undefined;
  });
}

/** Returns the processes that compute on a GPU; a text is a line that is not one. */
export function parseProcesses(output: string): readonly GpuProcess[] | string {
  return parseLines(output, (line) => {
    const [, uuid, pid, program] = PROCESS_LINE.exec(line) ?? [];
    return uuid !== undefined && program !== undefined ? { uuid, pid: Number(pid), program } : undefined;
  });
}

function parseLines<T>(output: string, parse: (line: string) => T | undefined): readonly T[] | string {
  const lines = output.split('\n').map((line) => line.trim());
  const found: T[] = [];
  for (const line of lines.filter((each) => each !== '')) {
    const item = parse(line);
    if (item === undefined) return line;
    found.push(item);
  }
  return found;
}

/** The exit codes of the manual of nvidia-smi, and that of a shell for a program that does not exist. */
const FAILURES: Readonly<Record<number, StepProblem>> = {
  3: { code: 'NotSupported', message: 'this GPU cannot be reset: reboot the node' },
  4: { code: 'NotPermitted', message: 'nvidia-smi needs root: run the agent as root' },
  6: { code: 'GPULost', message: 'nvidia-smi does not find the GPU: reboot the node, or cycle its power' },
  9: { code: 'DriverNotLoaded', message: 'the driver of NVIDIA is not loaded: load it, or reboot the node' },
  12: { code: 'DriverNotLoaded', message: 'the library NVML is missing: install the driver of NVIDIA' },
  13: { code: 'NotSupported', message: 'the library NVML is too old for a reset: update the driver' },
  15: { code: 'GPULost', message: 'the GPU fell off the bus: reboot the node, or cycle its power' },
};
const PROGRAM_NOT_FOUND = 127;
/** The manual has no exit code for a GPU that is in use: the text is what is there. */
const IN_USE = /\bin use\b|\bbeing used\b/i;
const DONE = /successfully reset/i;

/** Explains why nvidia-smi failed, with what to do. */
export function smiFailure(program: string, { exitCode = 0, output, truncated }: RunResult): StepProblem {
  if (exitCode === PROGRAM_NOT_FOUND) {
    const message = `${program} was not found: set nvidiaSmi in jobs.json of the host`;
    return { code: 'ProgramMissing', message };
  }
  if (truncated) return { code: 'GPUUnknown', message: `${program} printed too much` };
  const why = output.trim().split('\n').at(-1)?.trim().slice(0, 120) ?? '';
  if (DONE.test(output)) {
    return { code: 'PartlyReset', message: `not all GPUs were reset: ${why}. Reboot the node` };
  }
  return FAILURES[exitCode] ?? textFailure(output, `${program} ended with ${exitCode}: ${why}`);
}

function textFailure(output: string, message: string): StepProblem {
  if (!IN_USE.test(output)) return { code: 'ResetFailed', message };
  const inUse = 'another program uses the GPU, such as a monitor: stop it, or reboot the node';
  return { code: 'GPUInUse', message: inUse };
}
