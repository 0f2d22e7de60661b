/** Limits the events of one object: similar notes are combined, and excess events are dropped. */
import { createTokenBucket, type TokenBucket } from '../process/token-bucket.ts';

export interface EventLimits {
  /** The note under which the event is counted; undefined when the object has too many events. */
  admit(key: EventKey, nowMs: number): string | undefined;
}

export interface EventKey {
  /** The key of the object. */
  readonly about: string;
  /** The key of object, reason and action. */
  readonly topic: string;
  readonly note: string;
  /** Whether an event with this note exists and only needs to be counted. */
  readonly known: (note: string) => boolean;
}

// The limits of client-go. A topic with more different notes within ten minutes is combined into one event.
const MAX_NOTES = 10;
const NOTES_WINDOW_MS = 600_000;
// New events about one object: a burst, then one every five minutes.
const BURST = 25;
const PER_SECOND = 1 / 300;
// Remembered objects and topics. A forgotten one gets new limits, which costs an Event.
const MAX_REMEMBERED = 4096;

export const COMBINED = '(several of this kind) ';

interface Notes {
  readonly sinceMs: number;
  readonly notes: Set<string>;
  combined?: string;
}

export function createEventLimits(): EventLimits {
  const topics = new Map<string, Notes>();
  const buckets = new Map<string, TokenBucket>();
  return {
    admit: ({ about, topic, note, known }, nowMs) => {
      const countedNote = combine(topic, note, nowMs);
      if (known(countedNote)) return countedNote;
      const bucket = getOrCreate(buckets, about, () => createTokenBucket(PER_SECOND, BURST));
      if (bucket.delayMs(nowMs) > 0) return undefined;
      bucket.take(nowMs);
      return countedNote;
    },
  };

  function combine(topic: string, note: string, nowMs: number): string {
    const present = topics.get(topic);
    if (!present || nowMs - present.sinceMs > NOTES_WINDOW_MS) topics.delete(topic);
    const notes = getOrCreate(topics, topic, (): Notes => ({ sinceMs: nowMs, notes: new Set() }));
    if (notes.notes.has(note)) return note;
    if (notes.notes.size < MAX_NOTES) {
      notes.notes.add(note);
      return note;
    }
    notes.combined ??= `${COMBINED}${note}`;
    return notes.combined;
  }
}

/** The least recently used value is dropped first. */
function getOrCreate<V>(map: Map<string, V>, key: string, create: () => V): V {
  const value = map.get(key) ?? create();
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= MAX_REMEMBERED) break;
    map.delete(oldest);
  }
  return value;
}
