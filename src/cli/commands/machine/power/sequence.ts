/** Switches the power of a machine step by step: each state is read back before the next one is requested. */
import type { Clock } from '../../../../os/clock.ts';
import { pollUntil } from '../../../../os/poll.ts';
import { isProviderError, type ProviderError } from '../../../../providers/contract.ts';
import type { PowerState, PowerSwitch } from '../../../../providers/power.ts';

export interface SequenceLimits {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long each state may take to be read back. */
  readonly withinMs: number;
}

export interface SequenceEnd {
  /** The state that was read last. */
  readonly state: PowerState;
  /** The state that was not reached in time. Nothing was requested after it. */
  readonly missed?: 'On' | 'Off';
}

/** BMCs answer slowly, and power changes within seconds. */
const EVERY_MS = 2000;

/**
 * A missing answer is not a state: the read is repeated until the time is over, and never counts as reached. A request whose answer is
 * missing is not repeated: its state is read back, and its error is that of a state that does not follow.
 */
export async function switchInOrder(
  power: PowerSwitch,
  wanted: readonly ('On' | 'Off')[],
  { clock, signal, withinMs }: SequenceLimits,
): Promise<SequenceEnd> {
  let state: PowerState = 'Unknown';
  for (const next of wanted) {
    const deadlineMs = clock.monotonicMs() + withinMs;
    const unanswered = await requestState(power, next, signal);
    const reached = await pollUntil(
      async () => {
        state = await readState(power, signal);
        return state === next;
      },
      { clock, everyMs: EVERY_MS, deadlineMs, signal },
    );
    if (!reached && unanswered) throw unanswered;
    if (!reached) return { state, missed: next };
  }
  return { state };
}

/** Returns the error of a request that may have been carried out all the same. */
async function requestState(
  power: PowerSwitch,
  wanted: 'On' | 'Off',
  signal: AbortSignal,
): Promise<ProviderError | undefined> {
  try {
    await power.request(wanted, signal);
    return undefined;
  } catch (error) {
    if (isProviderError(error, 'Retryable', 'Ambiguous')) return error;
    throw error;
  }
}

async function readState(power: PowerSwitch, signal: AbortSignal): Promise<PowerState> {
  return await power.state(signal).catch((error: unknown) => {
    if (isProviderError(error, 'Retryable')) return 'Unknown';
    throw error;
  });
}
