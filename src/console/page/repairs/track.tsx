/** The time axis of the repairs, and one repair on it. The same is in words beside it. */
import type { JSX } from 'preact';
import { type TrackWindow, trackSegments, trackTicks } from '../../state/pages/repair-track.ts';
import type { RepairCard } from '../../state/state.ts';
import { clockText } from '../parts/time.ts';

export function Axis({ axis }: { readonly axis: TrackWindow }): JSX.Element {
  return (
    <div class="axis" aria-hidden="true">
      {trackTicks(axis).map(({ left, ms }) => (
        <span key={left} style={{ left: `${left}%` }}>
          {clockText(ms)}
        </span>
      ))}
    </div>
  );
}

export function Track({
  card,
  axis,
}: {
  readonly card: RepairCard;
  readonly axis: TrackWindow;
}): JSX.Element {
  return (
    <div class="track" aria-hidden="true">
      {trackSegments(card, axis).map(({ what, isOpen, left, width, duration }) => (
        <span
          key={what}
          class={`segment ${what} ${isOpen ? 'open' : ''}`}
          style={{ left: `${left}%`, width: `${width}%` }}
          title={segmentText(what, duration, isOpen)}
        >
          {width > MIN_TEXT_PERCENT
            ? segmentText(what, duration, isOpen)
            : width > MIN_TIME_PERCENT && duration}
        </span>
      ))}
    </div>
  );
}

function segmentText(what: string, duration: string, isOpen: boolean): string {
  return isOpen ? `${what}: not yet, ${duration}` : `${what} ${duration}`;
}

/** A narrower segment has no room for its text, or not even for its time. */
const MIN_TEXT_PERCENT = 20;
const MIN_TIME_PERCENT = 4.5;
