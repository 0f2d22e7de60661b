/** Places repairs on a time axis that they share: a segment from each moment to the next, with its duration. Pure; runs in the page. */
import { durationText } from '../../../api/elapsed.ts';
import { isOpenRepair } from '../open-repairs.ts';
import type { RepairCard } from '../state.ts';

export interface TrackWindow {
  readonly fromMs: number;
  readonly toMs: number;
  /** The distance of the ticks. */
  readonly stepMs: number;
}

export interface TrackSegment {
  /** The moment that the segment leads to. */
  readonly what: string;
  /** Whether the moment is not reached: the segment ends now. */
  readonly isOpen: boolean;
  /** In percent of the axis. */
  readonly left: number;
  readonly width: number;
  readonly duration: string;
}

export interface TrackTick {
  readonly left: number;
  readonly ms: number;
}

type Timed = Pick<RepairCard, 'timeline' | 'state'>;

/** The axes that a person can read, each with the distance of its ticks: 15 minutes, 1, 6 and 24 hours. */
const SPANS_MS: readonly (readonly [span: number, step: number])[] = [
  [900_000, 180_000],
  [3_600_000, 600_000],
  [21_600_000, 3_600_000],
  [86_400_000, 14_400_000],
];

/** Returns the shortest axis that contains all open repairs; without any, the newest one. */
export function trackWindow(cards: readonly Timed[], nowMs: number): TrackWindow {
  const open = cards.filter(isOpenRepair).map(startOf).filter(Number.isFinite);
  const starts = open.length > 0 ? open : [Math.max(...cards.map(startOf).filter(Number.isFinite))];
  const age = nowMs - Math.min(...starts);
  const [span = 0, stepMs = 1] = SPANS_MS.find(([each]) => each >= age) ?? SPANS_MS.at(-1) ?? [];
  return { fromMs: nowMs - span, toMs: nowMs, stepMs };
}

/** Returns the ticks: round times on the axis. */
export function trackTicks({ fromMs, toMs, stepMs }: TrackWindow): readonly TrackTick[] {
  const first = Math.ceil(fromMs / stepMs) * stepMs;
  const count = Math.max(0, Math.floor((toMs - first) / stepMs) + 1);
  return Array.from({ length: count }, (_, index) => {
    const ms = first + index * stepMs;
    return { left: (100 * (ms - fromMs)) / (toMs - fromMs), ms };
  });
}

/** Returns the segments that the axis contains, the oldest first. */
export function trackSegments(card: Timed, { fromMs, toMs }: TrackWindow): readonly TrackSegment[] {
  const reached = card.timeline.flatMap(({ what, at }) => {
    const ms = Date.parse(at ?? '');
    return Number.isNaN(ms) ? [] : [{ what, ms }];
  });
  const next = card.timeline.find(({ at }) => at === undefined);
  const end = isOpenRepair(card) && next ? [{ what: next.what, ms: toMs }] : [];
  const moments = [...reached, ...end];
  const position = (ms: number): number =>
    Math.min(100, Math.max(0, (100 * (ms - fromMs)) / (toMs - fromMs)));
  return moments.slice(1).flatMap(({ what, ms }, index) => {
    const start = moments[index]?.ms ?? ms;
    const left = position(start);
    const width = position(ms) - left;
    if (ms <= fromMs || start >= toMs) return [];
    const isOpen = end.length > 0 && index === moments.length - 2;
    return [{ what, isOpen, left, width, duration: durationText(Math.round((ms - start) / 1000)) }];
  });
}

function startOf({ timeline }: Timed): number {
  return Math.min(...timeline.map(({ at }) => Date.parse(at ?? '')).filter((ms) => !Number.isNaN(ms)));
}
