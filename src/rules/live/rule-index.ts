/** Which rules a change concerns: those that read a fact that changed. Pure. */
import { HEARTBEAT_MS } from '../../api/machine/heartbeat.ts';
import type { CompiledRule, MaxAge } from '../compiled-rule.ts';
import { type FactChange, topicOf } from './fact-changes.ts';

export interface RuleIndex {
  /** Names of rules, sorted. */
  affected(change: Pick<FactChange, 'topics' | 'silentMs'>): readonly string[];
}

/** Infinity for what our own watch reads. */
export function maxAgeMs(maxAge: MaxAge | undefined): number {
  if (maxAge === undefined || maxAge === 'OurWatch') return Infinity;
  return 'seconds' in maxAge ? maxAge.seconds * 1000 : maxAge.heartbeats * HEARTBEAT_MS;
}

export function createRuleIndex(rules: ReadonlyMap<string, CompiledRule>): RuleIndex {
  /** By topic, and by fact: the maximum age of each rule that reads it. */
  const readers = new Map<string, Map<string, number>>();
  for (const [name, rule] of rules) {
    for (const ref of rule.reads) {
      const ageMs = maxAgeMs(rule.maxAge.get(ref.fact));
      for (const key of new Set([topicOf(ref), ref.fact])) {
        const present = readers.get(key) ?? new Map<string, number>();
        readers.set(key, present.set(name, ageMs));
      }
    }
  }
  return {
    affected: ({ topics, silentMs = Infinity }) => {
      const names = new Set<string>();
      for (const topic of topics) {
        for (const [name, ageMs] of readers.get(topic) ?? []) {
          // With the same values only what was too old reads differently.
          if (silentMs === Infinity || silentMs > ageMs) names.add(name);
        }
      }
      return [...names].toSorted();
    },
  };
}
