/** How long since each of many senders last showed that it is alive: by our own clock, from the change of a timestamp of theirs. */
import { ageMsAt, type TimePoint } from './time-point.ts';

export interface LastChanges {
  /** How long it was silent before; undefined if this is not a sign of life. */
  observe(key: string, timestamp: string | undefined, point: TimePoint): number | undefined;
  /** Infinity for a sender that was never observed. */
  ageMs(key: string, point: TimePoint): number;
  forget(key: string): void;
}

interface LastChange {
  readonly timestamp: string;
  readonly ms: number;
}

export function createLastChanges(): LastChanges {
  const changes = new Map<string, LastChange>();
  return {
    observe: (key, timestamp, point) => {
      const before = changes.get(key);
      if (timestamp === undefined || timestamp === before?.timestamp) return undefined;
      // The first one may be old: only its own timestamp tells.
      const ageMs = before ? 0 : (ageMsAt(point, timestamp) ?? 0);
      changes.set(key, { timestamp, ms: point.ms - ageMs });
      return before ? point.ms - before.ms : Infinity;
    },
    ageMs: (key, { ms }) => ms - (changes.get(key)?.ms ?? -Infinity),
    forget: (key) => void changes.delete(key),
  };
}
