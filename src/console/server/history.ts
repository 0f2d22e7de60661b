/** Adds the last hour to a state: while no page is open, too, so that a page that is opened later shows it. */
import type { Clock } from '../../os/clock.ts';
import { addPoint, POINT_MS, pointOf } from '../state/history/points.ts';
import type { ConsoleState, FleetRows } from '../state/state.ts';
import type { ConsoleSource } from './streams.ts';

/** Without the past. */
export interface PresentSource extends Omit<ConsoleSource, 'current'> {
  current(): FleetRows;
}

export interface RecordedSource extends ConsoleSource {
  run(signal: AbortSignal): Promise<void>;
}

export function recordHistory(source: PresentSource, clock: Clock): RecordedSource {
  const handlers: (() => void)[] = [];
  let history: ConsoleState['history'] = {};
  return {
    ...source,
    current: () => ({ ...source.current(), history }),
    subscribe: (handler) => {
      handlers.push(handler);
      source.subscribe(handler);
    },
    async run(signal) {
      while (!signal.aborted) {
        history = addPoint(history, clock.now().getTime(), pointOf(source.current()));
        for (const handler of handlers) handler();
        await clock.sleep(POINT_MS, signal).catch(() => undefined);
      }
    },
  };
}
