/** How much may be said about one object: similar notes are said together, and too much is not said. */

export interface EventLimits {
  /** The note under which it is counted; undefined when too much was said about this object already. */
  admit(said: EventKey, nowMs: number): string | undefined;
}

export interface EventKey {
  /** The object. */
  readonly about: string;
  /** The object, the reason and the action. */
  readonly topic: string;
  readonly note: string;
  /** It was said before, and only has to be counted. */
  readonly known: (note: string) => boolean;
}

// client-go's numbers. A topic with more different notes than this within ten minutes is said once, as a whole.
const MAX_NOTES = 10;
const NOTES_WINDOW_MS = 600_000;
// New events about one object: so many at once, then one in five minutes.
const BURST = 25;
const PER_SECOND = 1 / 300;
// Objects and topics that are remembered. Whoever is forgotten starts anew, which costs an Event.
const MAX_REMEMBERED = 4096;

export const COMBINED = '(several of this kind) ';

interface Notes {
  readonly sinceMs: number;
  readonly notes: Set<string>;
  combined?: string;
}

export function createEventLimits(): EventLimits {
  const topics = new Map<string, Notes>();
  const buckets = new Map<string, (nowMs: number) => boolean>();
  return {
    admit: ({ about, topic, note, known }, nowMs) => {
      const wording = wordingOf(topic, note, nowMs);
      if (known(wording)) return wording;
      const hasRoom = remembered(buckets, about, perObject);
      return hasRoom(nowMs) ? wording : undefined;
    },
  };

  function wordingOf(topic: string, note: string, nowMs: number): string {
    const present = topics.get(topic);
    if (!present || nowMs - present.sinceMs > NOTES_WINDOW_MS) topics.delete(topic);
    const notes = remembered(topics, topic, (): Notes => ({ sinceMs: nowMs, notes: new Set() }));
    if (notes.notes.has(note)) return note;
    if (notes.notes.size < MAX_NOTES) {
      notes.notes.add(note);
      return note;
    }
    notes.combined ??= `${COMBINED}${note}`;
    return notes.combined;
  }
}

function perObject(): (nowMs: number) => boolean {
  let tokens = BURST;
  let lastMs: number | undefined;
  return (nowMs) => {
    tokens = Math.min(BURST, tokens + ((nowMs - (lastMs ?? nowMs)) / 1000) * PER_SECOND);
    lastMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };
}

/** The one that was not asked for the longest time is forgotten first. */
function remembered<V>(map: Map<string, V>, key: string, make: () => V): V {
  const value = map.get(key) ?? make();
  map.delete(key);
  map.set(key, value);
  for (const oldest of map.keys()) {
    if (map.size <= MAX_REMEMBERED) break;
    map.delete(oldest);
  }
  return value;
}
