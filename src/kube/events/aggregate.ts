/** Counts repeated events, and how many of them are written. Bounded. Pure: time is an argument. */
import type { ObjectName } from '../objects/object.ts';
import { createEventLimits } from './limits.ts';
import { eventName, eventNamespace, eventNote, eventTopic, type Occurrence, subjectKey } from './object.ts';

export interface AggregatedEvent {
  readonly key: string;
  readonly name: ObjectName & { readonly namespace: string };
  readonly occurrence: Occurrence;
  readonly firstAt: Date;
  lastAt: Date;
  /** Occurrences since this process created the entry. */
  count: number;
  /** The count of the stored Event before ours; undefined until the Event is known to exist. */
  storedBefore: number | undefined;
  written: number;
  lastWriteMs: number;
}

export type EventDropReason = 'too many of one object' | 'too many at once';

export interface EventAggregator {
  /** The entry that counts this occurrence, or why it is dropped. */
  count(occurrence: Occurrence, now: Date, nowMs: number): AggregatedEvent | EventDropReason;
  get(key: string): AggregatedEvent | undefined;
  forget(key: string): void;
  unwritten(): readonly AggregatedEvent[];
}

// Written entries are dropped from the oldest on; unwritten ones never exceed this.
const MAX_ENTRIES = 1000;

export function createEventAggregator(controller: string): EventAggregator {
  const limits = createEventLimits();
  const entries = new Map<string, AggregatedEvent>();
  return {
    count,
    get: (key) => entries.get(key),
    forget: (key) => void entries.delete(key),
    unwritten: () => [...entries.values()].filter(isUnwritten),
  };

  function count(occurrence: Occurrence, now: Date, nowMs: number): AggregatedEvent | EventDropReason {
    const topic = eventTopic(occurrence, controller);
    const key = { about: subjectKey(occurrence.about), topic, note: eventNote(occurrence.note) };
    const known = (counted: string): boolean => entries.has(keyOf(topic, counted));
    const note = limits.admit({ ...key, known }, nowMs);
    if (note === undefined) return 'too many of one object';
    const entry =
      entries.get(keyOf(topic, note)) ??
      createEntry(topic, { ...occurrence, note: eventNote(note) }, { note, now });
    if (!entry) return 'too many at once';
    entry.count += 1;
    entry.lastAt = now;
    return entry;
  }

  function createEntry(
    topic: string,
    occurrence: Occurrence,
    { note, now }: { readonly note: string; readonly now: Date },
  ): AggregatedEvent | undefined {
    if (!makeRoom()) return undefined;
    const { about } = occurrence;
    const entry: AggregatedEvent = {
      key: keyOf(topic, note),
      name: { name: eventName(about, topic, note), namespace: eventNamespace(about) },
      occurrence,
      firstAt: now,
      lastAt: now,
      count: 0,
      storedBefore: undefined,
      written: 0,
      lastWriteMs: Number.NEGATIVE_INFINITY,
    };
    entries.set(entry.key, entry);
    return entry;
  }

  function makeRoom(): boolean {
    if (entries.size < MAX_ENTRIES) return true;
    for (const entry of entries.values()) {
      if (isUnwritten(entry)) continue;
      entries.delete(entry.key);
      return true;
    }
    return false;
  }
}

export function isUnwritten({ count, written }: AggregatedEvent): boolean {
  return count > written;
}

function keyOf(topic: string, note: string): string {
  return `${topic} ${note}`;
}
