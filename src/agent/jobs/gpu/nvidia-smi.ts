/**
 * Runs nvidia-smi with arguments of our own only. Its exit codes are those of its manual. Each call ends in time, also when the program waits in
 * the driver, where no signal ends it.
 */
import type { Clock } from '../../../os/clock.ts';
import type { HostProcesses, RunResult } from '../../host/port.ts';
import type { StepProblem } from '../input.ts';
import { type GpuProcess, type ListedGpu, parseGpus, parseProcesses, smiFailure } from './smi-output.ts';

export interface NvidiaSmi {
  gpus(): Promise<readonly ListedGpu[] | StepProblem>;
  processes(): Promise<readonly GpuProcess[] | StepProblem>;
  reset(gpus: readonly ListedGpu[], timeoutMs: number): Promise<ResetAnswer>;
}

/** NotEnded: the program waits in the driver, so that the reset may still come. */
export type ResetAnswer =
  | { readonly result: 'Reset'; readonly output: string }
  | ({ readonly result: 'Failed' | 'NotEnded' | 'Killed'; readonly output: string } & StepProblem);

const QUERY_MS = 30_000;
const MAX_OUTPUT_BYTES = 256 * 1024;
/** The time that a program has to end after SIGKILL. */
const KILL_MS = 5000;
const FORMAT = '--format=csv,noheader';
/** A reset needs the rights of root, which the unit of the agent does not have. */
const ROOT = {};

export function createNvidiaSmi(
  { processes, clock }: { readonly processes: Pick<HostProcesses, 'run'>; readonly clock: Clock },
  program: string,
): NvidiaSmi {
  /** Undefined: the program did not end, although it was killed. */
  async function run(args: readonly string[], timeoutMs: number): Promise<RunResult | undefined> {
    const ended = new AbortController();
    const limits = { timeoutMs, maxOutputBytes: MAX_OUTPUT_BYTES, rights: ROOT };
    const running = processes.run([program, ...args], limits);
    const late = clock.sleep(timeoutMs + KILL_MS, ended.signal).catch(() => undefined);
    try {
      return (await Promise.race([running, late])) ?? undefined;
    } finally {
      ended.abort();
      // Its answer comes too late to be used.
      void running.catch(() => undefined);
    }
  }

  async function list<T>(
    query: string,
    parse: (output: string) => readonly T[] | string,
  ): Promise<readonly T[] | StepProblem> {
    const result = await run([query, FORMAT], QUERY_MS);
    if (!result || result.timedOut) return hangs(program);
    if (result.exitCode !== 0 || result.truncated) return smiFailure(program, result);
    const items = parse(result.output);
    if (typeof items !== 'string') return items;
    return {
      code: 'GPUUnknown',
      message: `${program} printed a line that is not known: ${items.slice(0, 80)}`,
    };
  }

  return {
    gpus: () => list('--query-gpu=index,uuid,pci.bus_id', parseGpus),
    processes: () => list('--query-compute-apps=gpu_uuid,pid,process_name', parseProcesses),
    async reset(gpus, timeoutMs) {
      const ids = gpus.map(({ uuid }) => uuid).join(',');
      const result = await run(['--gpu-reset', '-i', ids], timeoutMs);
      if (!result) return { result: 'NotEnded', output: '', ...hangs(program) };
      const { output, exitCode, timedOut } = result;
      if (exitCode === 0 && !timedOut) return { result: 'Reset', output };
      if (timedOut) return { result: 'Failed', output, ...tooLate(timeoutMs) };
      if (exitCode === undefined) return { result: 'Killed', output, ...killed(program, result) };
      return { result: 'Failed', output, ...smiFailure(program, result) };
    },
  };
}

function hangs(program: string): StepProblem {
  const message = `${program} does not end, and SIGKILL does not end it: it waits in the driver. Cycle the power of the node`;
  return { code: 'GPUHangs', message };
}

function tooLate(timeoutMs: number): StepProblem {
  const message = `the reset did not end in ${Math.round(timeoutMs / 1000)} s and was killed: reboot the node`;
  return { code: 'TimedOut', message };
}

function killed(program: string, { signal = 'unknown' }: RunResult): StepProblem {
  return { code: 'Killed', message: `signal ${signal} ended ${program}: what it did is not known` };
}
