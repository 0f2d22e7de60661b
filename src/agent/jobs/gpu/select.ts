/** Selects the GPUs that a step resets, and finds what forbids it. Pure. */
import type { ResetGPUInput } from '../../../api/generated/steps.ts';
import { type GpuResets, isBeforeReset } from '../../facts/gpu-resets.ts';
import type { LoggedXid } from '../../facts/xid.ts';
import type { StepProblem } from '../input.ts';
import type { GpuProcess, ListedGpu } from './smi-output.ts';

export interface GpuSelection {
  readonly input: ResetGPUInput;
  readonly listed: readonly ListedGpu[];
  /** The errors since the boot. */
  readonly logged: readonly LoggedXid[];
  readonly resets: GpuResets;
  readonly now: Date;
}

/** Selects the GPUs. One with an error that is not listed is not left out: without it the node would seem to be repaired. */
export function selectGpus({
  input: { gpus, codes },
  listed,
  logged,
  resets,
  now,
}: GpuSelection): readonly ListedGpu[] | StepProblem {
  if (listed.length === 0) {
    return { code: 'NoGPU', message: 'nvidia-smi lists no GPU: check the driver, then reboot the node' };
  }
  if (gpus === 'All') return listed;
  const counted = logged.filter(({ code }) => codes.length === 0 || codes.includes(code));
  const open = counted.filter((error) => !isBeforeReset(error, resets, now));
  const addresses = [...new Set(open.map(({ address }) => address))].toSorted();
  if (addresses.length === 0) {
    return { code: 'NoGPUError', message: 'no GPU has such an error since the last boot or reset' };
  }
  const missing = addresses.filter((each) => !listed.some(({ address }) => address === each));
  return missing.length > 0
    ? missingGpus(missing)
    : listed.filter((each) => addresses.includes(each.address));
}

/** Explains a GPU that the driver does not reach, so that nvidia-smi cannot reset it. */
export function missingGpus(addresses: readonly string[]): StepProblem {
  const message = `nvidia-smi does not list GPU ${addresses.join(', ')}: reboot the node, or cycle its power`;
  return { code: 'GPULost', message };
}

/** Explains which process keeps the GPUs of the node from being reset. */
export function inUseProblem(processes: readonly GpuProcess[]): StepProblem | undefined {
  const [first, ...others] = processes;
  if (!first) return undefined;
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  const who = `process ${first.pid} (${first.program.slice(0, 64)})`;
  return { code: 'GPUInUse', message: `${who}${more} uses a GPU: end it, or reboot the node` };
}
