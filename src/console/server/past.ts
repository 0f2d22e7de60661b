/** Asks for the lines of the past at most once in some seconds, however many pages show them. */
import type { Clock } from '../../os/clock.ts';
import { type HistoryRange, type PastAnswer, RANGE_TIMES } from '../state/history/ranges.ts';

/** The times of a line, in seconds of the epoch. */
export interface PastTimes {
  readonly from: number;
  readonly to: number;
  readonly step: number;
}

export interface PastOptions {
  /** Never rejects. */
  readonly read: (times: PastTimes) => Promise<Pick<PastAnswer, 'lines' | 'missing'>>;
  readonly clock: Clock;
}

export type ReadPast = (range: HistoryRange) => Promise<PastAnswer>;

/** How long an answer is shown to others who ask. A person does not see a shorter time on a chart of minutes. */
export const PAST_MS = 10_000;

export function createPast({ read, clock }: PastOptions): ReadPast {
  const kept = new Map<HistoryRange, { readonly untilMs: number; readonly answer: Promise<PastAnswer> }>();

  return async (range) => {
    const nowMs = clock.monotonicMs();
    const found = kept.get(range);
    if (found && found.untilMs > nowMs) return await found.answer;
    const answer = ask(range);
    kept.set(range, { untilMs: nowMs + PAST_MS, answer });
    return await answer;
  };

  async function ask(range: HistoryRange): Promise<PastAnswer> {
    const at = Math.floor(clock.now().getTime() / 1000);
    const times = timesOf(at, range);
    const { lines, missing } = await read(times);
    return { at, from: times.from, step: times.step, lines, missing };
  }
}

/** Removes what only the sync of a hub measures: elsewhere it would be the line of another fleet. */
export function withoutContact(read: ReadPast): ReadPast {
  return async (range) => {
    const answer = await read(range);
    const { contact: _, ...lines } = answer.lines;
    return { ...answer, lines, missing: answer.missing.filter(({ field }) => field !== 'contact') };
  };
}

/** On a grid of the step, so that a point keeps its value while the range moves on. The step of now is the last one. */
function timesOf(at: number, range: HistoryRange): PastTimes {
  const { seconds, step } = RANGE_TIMES[range];
  const to = Math.ceil(at / step) * step;
  return { from: to - seconds, to, step };
}
