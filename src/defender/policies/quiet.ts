/** States of quiet windows, each computed once until it changes: time zones are expensive. The results are those of `windowState`. */
import type { QuietTime } from '../../api/generated/types.ts';
import { type WindowState, windowState } from '../../rollout/maintenance-windows.ts';

export type QuietStates = (windows: readonly QuietTime[], now: Date) => WindowState<QuietTime>;

interface Computed {
  readonly from: number;
  readonly until: number;
  readonly state: WindowState<QuietTime>;
}

const NEVER_ENDS_MS = 60_000;

export function createQuietStates(): QuietStates {
  const computed = new Map<string, Computed>();
  return (windows, now) => {
    const key = JSON.stringify(windows.map(({ name }) => name));
    const found = computed.get(key);
    if (found && found.from <= +now && +now < found.until) return found.state;
    const state = windowState(windows, now);
    // Windows that never end are looked at again: which of them is open may change.
    const until = state.changesAt ? +state.changesAt : +now + NEVER_ENDS_MS;
    computed.set(key, { from: +now, until, state });
    return state;
  };
}
