/** Orders the machines on which a rule would act and no grant was given yet: the Defender is asked in this order. */
import type { GrantAsk } from '../../../api/grants.ts';

export interface Turn {
  readonly machine: string;
  readonly rule: string;
  /** The moment that decides the order: the earliest goes first. */
  readonly dueMs: number;
  /** The meaning of that moment. It completes "m-1 goes first: ". */
  readonly because: string;
  readonly ask: GrantAsk;
}

/** Holds the order in memory: after a start every machine is evaluated again before a rule acts. */
export interface TurnOrder {
  /** Enters a machine that was asked for and denied, or waits for others. Replaces what waited on that machine. */
  enter(turn: Turn): void;
  leave(machine: string): void;
  has(turn: Pick<Turn, 'machine' | 'rule'>): boolean;
  /** Returns the other machines of the same rule that go before it and may still take their turn, the first one first. */
  before(turn: Turn, nowMs: number): readonly Turn[];
  first(rule: string): Turn | undefined;
  /** Records that it is the turn of the machine now. */
  call(machine: string, nowMs: number): void;
}

/**
 * How long a machine may take for its turn. One that does not take it, because something fails on it, holds up the others for no
 * longer.
 */
const TAKEN_WITHIN_MS = 10_000;
/** The most machines that are asked about: enough to find one that could be granted. All of a fleet would be too much for each ask. */
const MAX_BEFORE = 20;

interface Entry {
  readonly turn: Turn;
  readonly calledMs?: number;
}

export function createTurnOrder(): TurnOrder {
  const entries = new Map<string, Entry>();
  const ofRule = (rule: string): readonly Entry[] =>
    [...entries.values()].filter(({ turn }) => turn.rule === rule);
  return {
    enter: (turn) => void entries.set(turn.machine, { turn }),
    leave: (machine) => void entries.delete(machine),
    has: ({ machine, rule }) => entries.get(machine)?.turn.rule === rule,
    before: (turn, nowMs) =>
      ofRule(turn.rule)
        .filter((each) => each.turn.machine !== turn.machine && byTurn(each.turn, turn) < 0)
        .filter((each) => mayTakeIt(each, nowMs))
        .map((each) => each.turn)
        .toSorted(byTurn)
        .slice(0, MAX_BEFORE),
    first: (rule) =>
      ofRule(rule)
        .map(({ turn }) => turn)
        .toSorted(byTurn)[0],
    call: (machine, nowMs) => {
      const entry = entries.get(machine);
      if (entry) entries.set(machine, { calledMs: nowMs, ...entry });
    },
  };
}

function mayTakeIt({ calledMs }: Entry, nowMs: number): boolean {
  return calledMs === undefined || nowMs - calledMs < TAKEN_WITHIN_MS;
}

/** Compares turns by the moment, then by name. */
function byTurn(a: Turn, b: Turn): number {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs ? -1 : 1;
  if (a.machine === b.machine) return 0;
  return a.machine < b.machine ? -1 : 1;
}
