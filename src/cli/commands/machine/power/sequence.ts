/** Switches the power of a machine step by step: each state is read back before the next one is requested. */
import type { Clock } from '../../../../os/clock.ts';
import { pollUntil } from '../../../../os/poll.ts';
import { isProviderError } from '../../../../providers/contract.ts';
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

/** A missing answer is not a state: the read is repeated until the time is over, and never counts as reached. */
export async function switchInOrder(
  power: PowerSwitch,
  wanted: readonly ('On' | 'Off')[],
  { clock, signal, withinMs }: SequenceLimits,
): Promise<SequenceEnd> {
  let state: PowerState = 'Unknown';
  for (const next of wanted) {
    await power.request(next, signal);
    const reached = await pollUntil(
      async () => {
        state = await readState(power, signal);
        return state === next;
      },
      { clock, everyMs: EVERY_MS, deadlineMs: clock.monotonicMs() + withinMs, signal },
    );
    if (!reached) return { state, missed: next };
  }
  return { state };
}

async function readState(power: PowerSwitch, signal: AbortSignal): Promise<PowerState> {
  return await power.state(signal).catch((error: unknown) => {
    if (isProviderError(error, 'Retryable')) return 'Unknown';
    throw error;
  });
}
