/** Machines on which a rule would act and no grant was given yet, in the order in which the Defender is to be asked. */
import type { GrantAsk } from '../../../api/grants.ts';

export interface Turn {
  readonly machine: string;
  readonly rule: string;
  /** The earliest goes first. */
  readonly dueMs: number;
  /** What that moment is. Completes "m-1 goes first: ". */
  readonly because: string;
  readonly ask: GrantAsk;
}

/** In memory: after a start every machine is evaluated again before a rule acts. */
export interface TurnOrder {
  /** It was asked for and denied, or waits for others. Replaces what waited on that machine. */
  enter(turn: Turn): void;
  leave(machine: string): void;
  has(turn: Pick<Turn, 'machine' | 'rule'>): boolean;
  /** Of the same rule, the other machines that go before it and may still take their turn, the first one first. */
  before(turn: Turn, nowMs: number): readonly Turn[];
  first(rule: string): Turn | undefined;
  /** It is its turn now. */
  call(machine: string, nowMs: number): void;
}

/** A machine that does not take its turn, because something fails on it, holds up the others for no longer. */
const TAKEN_WITHIN_MS = 10_000;
/** Enough to find one that could be granted. All of a fleet would be too much for each ask. */
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

/** By the moment, then by name. */
function byTurn(a: Turn, b: Turn): number {
  if (a.dueMs !== b.dueMs) return a.dueMs < b.dueMs ? -1 : 1;
  if (a.machine === b.machine) return 0;
  return a.machine < b.machine ? -1 : 1;
}
