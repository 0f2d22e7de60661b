/** Feeds recorded lines to the facts of the controllers, on a clock that moves only with the lines. */
import type { Log } from '../../kube/process/log.ts';
import type { Clock } from '../../os/clock.ts';
import type { CompiledRule } from '../compiled-rule.ts';
import { type FactChange, topicsHeardOf } from '../live/fact-changes.ts';
import { createLiveFacts, type LiveFacts } from '../live/live-facts.ts';
import type { RecordedLine } from './format.ts';
import { createReplayViews, type ReplayStores, type ReplayViews } from './replay-views.ts';

export type ReplayFacts = Pick<LiveFacts, 'read' | 'onChange' | 'unknownReason' | 'dueInMs' | 'now'>;

/** The facts of one recording process. Times are milliseconds since 1970. */
export interface Replay {
  readonly clock: Clock;
  readonly stores: ReplayStores;
  readonly facts: ReplayFacts;
  /** Time passes; nothing is observed. */
  advanceTo(ms: number): void;
  apply(line: RecordedLine): void;
  /** Every initial list is complete. */
  hasSynced(): boolean;
  close(): void;
}

export function createReplay(log: Log, startMs: number): Replay {
  const time = { ms: startMs };
  const clock: Clock = {
    now: () => new Date(time.ms),
    monotonicMs: () => time.ms,
    sleep: () => Promise.reject(new Error('a replay does not wait')),
  };
  const views = createReplayViews(log, time);
  const live = createLiveFacts({ clock, views: views.views });
  return {
    clock,
    stores: views.stores,
    facts: createReplayFacts(live, views),
    advanceTo: (ms) => (time.ms = Math.max(time.ms, ms)),
    apply: (line) => views.apply(line),
    hasSynced: () => views.hasSynced(),
    close: () => live.close(),
  };
}

/** While the agent is heard of these facts do not become too old. */
const FACTS_OF_AGENTS: ReadonlySet<string> = new Set(topicsHeardOf('Agent'));

function createReplayFacts(live: LiveFacts, views: ReplayViews): ReplayFacts {
  const listeners = new Set<(change: FactChange) => void>();
  let isRenewing = false;
  live.onChange((change) => {
    // An agent that is still heard of changes nothing.
    if (!isRenewing) for (const listener of listeners) listener(change);
  });
  const renewed = (machine: string): LiveFacts => {
    isRenewing = true;
    try {
      views.renew(machine);
    } finally {
      isRenewing = false;
    }
    return live;
  };
  return {
    now: () => live.now(),
    read: (machine, maxAge) => renewed(machine).read(machine, maxAge),
    unknownReason: (machine, ref, maxAge) => renewed(machine).unknownReason(machine, ref, maxAge),
    dueInMs: (machine, rule) =>
      renewed(machine).dueInMs(machine, views.isHeard(machine) ? withoutAgentAges(rule) : rule),
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

function withoutAgentAges(rule: CompiledRule): CompiledRule {
  const maxAge = [...rule.maxAge].filter(([fact]) => !FACTS_OF_AGENTS.has(fact));
  return { ...rule, maxAge: new Map(maxAge) };
}
