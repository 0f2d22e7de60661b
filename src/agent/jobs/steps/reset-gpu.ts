/**
 * Resets GPUs of NVIDIA, when nothing uses them. What is reset is written to a file of the try before the act, and the record of resets after it:
 * between both an agent that starts again cannot tell whether it happened, and never repeats it.
 */
import type { ResetGPUInput } from '../../../api/generated/steps.ts';
import { listAt, parseRecord, textAt } from '../../../kube/objects/json.ts';
import { readGpuResets, recordGpuResets } from '../../facts/gpu-resets.ts';
import { readBootXids } from '../../facts/xid-log.ts';
import { GPU_DIRECTORY, JOBS_DIRECTORY } from '../../layout.ts';
import { createNvidiaSmi, type NvidiaSmi, type ResetAnswer } from '../gpu/nvidia-smi.ts';
import { inUseProblem, missingGpus, selectGpus } from '../gpu/select.ts';
import type { ListedGpu } from '../gpu/smi-output.ts';
import type { StepProblem } from '../input.ts';
import { runName } from '../output.ts';
import {
  failedStep,
  type StepContext,
  type StepExecutor,
  type StepResult,
  succeededStep,
} from './executor.ts';

const ATTRIBUTES = { mode: '0600', owner: 'root:root' };
/** The share of the time that is left for a reset; the rest is for its end, and for what is read afterwards. */
const RESET_SHARE = 0.7;
/** A reset takes seconds for each GPU. One that is killed in the middle is worse than none. */
const MIN_LEFT_MS = 15_000;

export const resetGpuStep: StepExecutor<'ResetGPU'> = {
  async problem({ host }) {
    if (host.capabilities.programs && (await host.files.stat(GPU_DIRECTORY))) return undefined;
    return { code: 'NoGPU', message: `the driver of NVIDIA is not loaded: ${GPU_DIRECTORY} was not found` };
  },
  async execute(context, input, run) {
    const { host, clock, config } = context;
    const endMs = clock.monotonicMs() + run.timeoutMs;
    const smi = createNvidiaSmi({ processes: host.processes, clock }, config.nvidiaSmi);
    const file = intentFile(run.name);
    if (await host.files.stat(file)) return unknownStep('Unknown', 'the reset was begun before');
    const gpus = await gpusToReset(context, input, smi);
    if ('code' in gpus) return failedStep(gpus.code, gpus.message);
    const leftMs = endMs - clock.monotonicMs();
    if (leftMs < MIN_LEFT_MS) return failedStep('TimedOut', 'too little time is left: no GPU was reset');
    const intent = { gpus: gpus.map(({ address }) => address), at: clock.now() };
    await host.files.write(file, new TextEncoder().encode(JSON.stringify(intent)), ATTRIBUTES);
    const answer = await smi.reset(gpus, Math.floor(leftMs * RESET_SHARE));
    if (answer.result !== 'Reset') return failedReset(answer);
    const lost = await lostGpus(gpus, smi);
    if (lost) return failedStep(lost.code, lost.message, answer.output);
    await recordGpuResets(host.files, intent.gpus, intent.at);
    return succeededStep(`reset GPU ${intent.gpus.join(', ')}`, answer.output);
  },
  async observe({ host }, progress) {
    if ((await host.node.bootId()) !== progress.bootId) {
      return { happened: 'Yes', message: 'the host has booted since, which resets all GPUs' };
    }
    const intent = parseIntent(await host.files.read(intentFile(runName(progress))));
    if (!intent) return { happened: 'No', message: 'the agent ended before it reset a GPU' };
    const resets = await readGpuResets(host.files);
    const isRead = intent.gpus.length > 0;
    const isDone = isRead && intent.gpus.every((each) => resets.get(each)?.toISOString() === intent.at);
    return isDone
      ? { happened: 'Yes', message: `reset GPU ${intent.gpus.join(', ')}` }
      : { happened: 'Unknown', message: 'the agent ended while it reset GPUs: they are not reset again' };
  },
};

/** Reads the GPUs and what uses them immediately before the reset: nothing that was read earlier counts. */
async function gpusToReset(
  { host, clock }: StepContext,
  input: ResetGPUInput,
  smi: NvidiaSmi,
): Promise<readonly ListedGpu[] | StepProblem> {
  const listed = await smi.gpus();
  if ('code' in listed) return listed;
  const [logged, resets] = [await readBootXids(host.processes), await readGpuResets(host.files)];
  const selected = selectGpus({ input, listed, logged, resets, now: clock.now() });
  if ('code' in selected) return selected;
  const processes = await smi.processes();
  if ('code' in processes) return processes;
  // A reset of one GPU can need the others of the node to be idle, too.
  return inUseProblem(processes) ?? selected;
}

/** Reads back what the driver knows: a GPU that does not return from a reset is not one that was reset. */
async function lostGpus(gpus: readonly ListedGpu[], smi: NvidiaSmi): Promise<StepProblem | undefined> {
  const listed = await smi.gpus();
  // The code tells that a reset was done: it is not repeated.
  if ('code' in listed) return { code: 'ResetFailed', message: `after the reset: ${listed.message}` };
  const lost = gpus.filter(({ uuid }) => !listed.some((each) => each.uuid === uuid));
  return lost.length > 0 ? missingGpus(lost.map(({ address }) => address)) : undefined;
}

function failedReset({
  result,
  code,
  message,
  output,
}: Exclude<ResetAnswer, { result: 'Reset' }>): StepResult {
  return result === 'Failed' ? failedStep(code, message, output) : unknownStep(code, message, output);
}

function unknownStep(code: string, message: string, output = ''): StepResult {
  return { state: 'Ambiguous', code, message, output };
}

function intentFile(name: string): string {
  return `${JOBS_DIRECTORY}/${name}/gpu-reset.json`;
}

interface ResetIntent {
  readonly gpus: readonly string[];
  readonly at: string;
}

/** Undefined: nothing was begun. A file that cannot be read names no GPU: a reset was begun all the same. */
function parseIntent(content: Uint8Array | undefined): ResetIntent | undefined {
  if (!content) return undefined;
  const intent = parseRecord(new TextDecoder().decode(content));
  return { gpus: listAt(intent, 'gpus').map(String), at: textAt(intent, 'at') ?? '' };
}
