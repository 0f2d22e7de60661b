/** Waits until something changed or a time has come. Changes in quick succession count as one. */
import type { Clock } from '../../os/clock.ts';

export interface ReconcileTrigger {
  /** Something changed: the next wait ends. */
  notify(): void;
  /** Waits from `minMs` to `maxMs`, in between until something changed. It ends at once when the signal is aborted. */
  wait(
    times: { readonly minMs: number; readonly maxMs: number },
    signal: AbortSignal,
  ): Promise<TriggerReason>;
}

export type TriggerReason = 'Changed' | 'Elapsed';

export function createReconcileTrigger(clock: Clock): ReconcileTrigger {
  let changed = new AbortController();
  return {
    notify: () => changed.abort(),
    async wait({ minMs, maxMs }, signal) {
      await clock.sleep(minMs, signal).catch(() => undefined);
      const rest = AbortSignal.any([changed.signal, signal]);
      await clock.sleep(Math.max(0, maxMs - minMs), rest).catch(() => undefined);
      if (!changed.signal.aborted) return 'Elapsed';
      changed = new AbortController();
      return 'Changed';
    },
  };
}
