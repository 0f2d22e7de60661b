/** The ranges of time that the page of health shows, and what is known of one of them. Pure; runs in the page. */
import type { HistoryField } from './lines.ts';

export const HISTORY_RANGES = ['15m', '1h', '6h', '24h'] as const;
export type HistoryRange = (typeof HISTORY_RANGES)[number];

export const DEFAULT_RANGE: HistoryRange = '1h';

export interface RangeTimes {
  readonly title: string;
  readonly seconds: number;
  /** The seconds between two points: 90 to 120 points are as many as a person distinguishes on a chart. */
  readonly step: number;
}

export const RANGE_TIMES: Readonly<Record<HistoryRange, RangeTimes>> = {
  '15m': { title: '15 min', seconds: 900, step: 10 },
  '1h': { title: '1 h', seconds: 3600, step: 30 },
  '6h': { title: '6 h', seconds: 21_600, step: 180 },
  '24h': { title: '24 h', seconds: 86_400, step: 720 },
};

/** A line that is not shown, or only in part, and why. */
export interface MissingLine {
  readonly field: HistoryField;
  readonly because: string;
}

/** Holds the lines that Prometheus has of a range, as they are sent to the page. Times are in seconds of the epoch. */
export interface PastAnswer {
  /** When Prometheus was asked. */
  readonly at: number;
  /** The first time, and the seconds to the next one. */
  readonly from: number;
  readonly step: number;
  /** A value for each time; null: Prometheus has none of that time. */
  readonly lines: Readonly<Partial<Record<HistoryField, readonly (number | null)[]>>>;
  readonly missing: readonly MissingLine[];
}

/** Returns the range of a text, as an address has it. */
export function rangeOf(text: string | null): HistoryRange | undefined {
  return HISTORY_RANGES.find((each) => each === text);
}
