/** Changes of Nodes at a steady rate, and how long each takes until every rule that reads it has decided. */
import { setTimeout as pause } from 'node:timers/promises';
import type { LiveFacts } from '../../src/rules/live/live-facts.ts';
import type { RuleIndex } from '../../src/rules/live/rule-index.ts';
import type { EvaluateRules } from './evaluate.ts';
import type { BenchFleet } from './fleet.ts';
import { CONDITION_TYPES } from './rules.ts';

export interface ChangeLoad {
  /** Of each change. */
  readonly latenciesMs: readonly number[];
  readonly evaluations: number;
  readonly changesPerSecond: number;
}

interface LoadOptions {
  readonly fleet: BenchFleet;
  readonly facts: LiveFacts;
  readonly index: RuleIndex;
  readonly evaluate: EvaluateRules;
  readonly perSecond: number;
  readonly seconds: number;
}

const TICK_MS = 20;

export async function loadWithChanges(options: LoadOptions): Promise<ChangeLoad> {
  const { fleet, facts, index, evaluate, perSecond, seconds } = options;
  const waiting = new Map<string, { readonly atMs: number; readonly rules: Set<string> }>();
  const latenciesMs: number[] = [];
  let evaluations = 0;
  let working: Promise<void> | undefined;
  const stop = facts.onChange((change) => {
    const rules = index.affected(change);
    if (rules.length === 0) return;
    const present = waiting.get(change.machine) ?? { atMs: performance.now(), rules: new Set<string>() };
    for (const rule of rules) present.rules.add(rule);
    waiting.set(change.machine, present);
    working ??= work();
  });

  const total = perSecond * seconds;
  const startMs = performance.now();
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - startMs) * perSecond) / 1000));
    for (; sent < due; sent += 1) fleet.toggle(nameAt(fleet, sent), typeAt(sent));
    // oxlint-disable-next-line no-await-in-loop -- the rate
    await pause(TICK_MS);
  }
  const changesPerSecond = (total * 1000) / (performance.now() - startMs);
  await working;
  stop();
  return { latenciesMs, evaluations, changesPerSecond };

  async function work(): Promise<void> {
    for (let [next] = waiting; next; [next] = waiting) {
      const [machine, { atMs, rules }] = next;
      waiting.delete(machine);
      // oxlint-disable-next-line no-await-in-loop -- one machine after the other, as a worker does
      evaluations += (await evaluate(machine, [...rules])).length;
      latenciesMs.push(performance.now() - atMs);
    }
    working = undefined;
  }
}

/** Spread over the fleet. */
function nameAt({ names }: BenchFleet, index: number): string {
  return names[(index * 7919) % names.length] ?? '';
}

function typeAt(index: number): string {
  return CONDITION_TYPES[index % CONDITION_TYPES.length] ?? '';
}
