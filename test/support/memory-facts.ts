/** Facts of nodes that a test sets, by name of the machine: what is not set is unknown. */

import type { RemedyFacts } from '../../src/controllers/remedy/state.ts';
import {
  type CompiledRule,
  type FactReader,
  type Reading,
  UNKNOWN_READING,
} from '../../src/rules/compiled-rule.ts';
import { ALL_TOPICS, type FactChange } from '../../src/rules/live/fact-changes.ts';
import { NOW } from './virtual-clock.ts';

export interface MemoryFacts extends RemedyFacts {
  /** `{ 'condition Ready': { status: 'True' } }`: by fact and parameters. Replaces all facts of the machine. */
  set(machine: string, readings: Readonly<Record<string, Reading>>): void;
  /** Seconds after NOW at which every rule is due. */
  dueSeconds: number;
  /** Called at each read; may throw. */
  reading: (machine: string, maxAge: CompiledRule['maxAge']) => void;
}

/** `now`: as time passes, what was observed for some seconds has been observed for longer. */
export function memoryFacts(now: () => Date = () => NOW): MemoryFacts {
  const all = new Map<string, Readonly<Record<string, Reading>>>();
  const listeners = new Set<(change: FactChange) => void>();
  const facts: MemoryFacts = {
    reading: () => undefined,
    now,
    set: (machine, readings) => {
      all.set(machine, readings);
      for (const listener of listeners) listener({ machine, topics: ALL_TOPICS });
    },
    dueSeconds: Number.POSITIVE_INFINITY,
    dueInMs: () => {
      const left = facts.dueSeconds * 1000 - (+now() - +NOW);
      return left > 0 ? left : Number.POSITIVE_INFINITY;
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    read: (machine, maxAge): FactReader => {
      return ({ fact, params }) => {
        facts.reading(machine, maxAge);
        const reading = all.get(machine)?.[[fact, ...Object.values(params)].join(' ')] ?? UNKNOWN_READING;
        const { observedSeconds } = reading;
        if (typeof observedSeconds !== 'number') return reading;
        return { ...reading, observedSeconds: observedSeconds + (+now() - +NOW) / 1000 };
      };
    },
  };
  return facts;
}

/** Those of the sample rule, of a node that hangs. */
export const HUNG_FACTS: Readonly<Record<string, Reading>> = {
  'condition FrequentTaskHung': { status: 'True', observedSeconds: 300, reason: 'TaskHung' },
  'condition Ready': { status: 'False', observedSeconds: 60 },
  'event TaskHung 600': { count: 9 },
  node: { uptimeSeconds: 90_000 },
  'history Reboot 86400': { count: 0 },
};

export const WELL_FACTS: Readonly<Record<string, Reading>> = {
  ...HUNG_FACTS,
  'condition FrequentTaskHung': { status: 'False', observedSeconds: 9000 },
  'condition Ready': { status: 'True', observedSeconds: 9000 },
};
