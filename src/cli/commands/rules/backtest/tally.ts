/** Counts what a rule found on each machine while recorded facts were replayed. The counts are bounded by the number of machines. Pure. */
import type { Risk } from '../../../../api/enums.ts';
import { optional } from '../../../../kube/objects/optional.ts';
import type { RuleOutcome } from '../../../../rules/compiled-rule.ts';

/** The result of a rule on a machine at one time. Times are milliseconds since 1970. */
export interface ObservedRule {
  readonly outcome: RuleOutcome;
  readonly because: string;
  /** The time when the fault began; undefined when there is none, or it has been away for `clearSeconds`. */
  readonly sinceMs: number | undefined;
  /** The reason why the controllers would wait, unless it is the mode of the rule. */
  readonly wait?: string;
}

export interface WouldAsk {
  readonly action: string;
  readonly risk: Risk;
}

/** One fault of one machine: short breaks of less than `clearSeconds` are part of it. */
export interface FaultCase {
  readonly from: string;
  /** The time when the fault was last there; absent: it still was at the end of what was recorded. */
  readonly to?: string;
  readonly matchedSeconds: number;
  /** The part of `matchedSeconds` with a closed gate. */
  readonly heldSeconds: number;
  /** The facts at the beginning of the fault. */
  readonly because: string;
  /** The asks that the Defender would get, each with its time. */
  readonly asks: readonly (WouldAsk & { readonly at: string })[];
  /** The reasons why the Defender would not be asked, or not yet. */
  readonly waits: readonly string[];
}

export interface UnknownPeriod {
  readonly because: string;
  readonly times: number;
  readonly seconds: number;
}

export interface MachineTally {
  readonly machine: string;
  readonly cases: readonly FaultCase[];
  /** Cases beyond those that are listed. */
  readonly moreCases: number;
  readonly indeterminate: readonly UnknownPeriod[];
}

export interface Peak {
  readonly machines: number;
  readonly at?: string;
}

export interface Tally {
  /** Records an observation of a machine. Undefined: the rule does not concern the machine any more, or the machine was deleted. */
  observe(machine: string, atMs: number, observed: ObservedRule | undefined): void;
  ask(machine: string, atMs: number, ask: WouldAsk): void;
  /** Ends everything that is open as still there: what follows is not known. */
  interrupt(atMs: number): void;
  /** Returns the tally of every machine that was a target, by name. */
  machines(): readonly MachineTally[];
  /** Returns how many machines were ill at the same time, at most. */
  peak(): Peak;
}

interface OpenCase {
  readonly fromMs: number;
  readonly because: string;
  lastMs: number | undefined;
  matchedMs: number;
  heldMs: number;
  readonly asks: (WouldAsk & { readonly at: string })[];
  readonly waits: Map<string, string>;
}

interface MachineState {
  readonly cases: FaultCase[];
  readonly unknown: Map<string, { readonly because: string; times: number; ms: number }>;
  more: number;
  open: OpenCase | undefined;
  present: (ObservedRule & { readonly atMs: number }) | undefined;
}

const MAX_CASES = 50;
const MAX_REASONS = 5;
const OTHER_REASONS = 'other reasons';

export function createTally(): Tally {
  const machines = new Map<string, MachineState>();
  const ill = new Set<string>();
  let peak: Peak = { machines: 0 };
  return {
    observe: (machine, atMs, observed) => {
      if (!observed && !machines.has(machine)) return;
      const state = machines.get(machine) ?? createState(machines, machine);
      passTime(state, atMs);
      if (observed) change(state, observed, atMs);
      else close(state);
      state.present = observed && { ...observed, atMs };
      countIll(machine, atMs, observed);
    },
    ask: (machine, atMs, { action, risk }) => {
      const open = machines.get(machine)?.open;
      if (!open || open.asks.some((each) => each.action === action)) return;
      open.asks.push({ at: timeOf(atMs), action, risk });
    },
    interrupt: (atMs) => {
      for (const state of machines.values()) {
        passTime(state, atMs);
        close(state);
        state.present = undefined;
      }
      ill.clear();
    },
    machines: () =>
      [...machines]
        .toSorted(([a], [b]) => (a < b ? -1 : 1))
        .map(([machine, { cases, more, unknown }]) => ({
          machine,
          cases,
          moreCases: more,
          indeterminate: [...unknown.values()].map(({ because, times, ms }) => ({
            because,
            times,
            seconds: seconds(ms),
          })),
        })),
    peak: () => peak,
  };

  function countIll(machine: string, atMs: number, observed: ObservedRule | undefined): void {
    if (observed && isIllOutcome(observed.outcome)) ill.add(machine);
    else ill.delete(machine);
    if (ill.size > peak.machines) peak = { machines: ill.size, at: timeOf(atMs) };
  }
}

function createState(machines: Map<string, MachineState>, machine: string): MachineState {
  const created: MachineState = {
    cases: [],
    unknown: new Map(),
    more: 0,
    open: undefined,
    present: undefined,
  };
  machines.set(machine, created);
  return created;
}

/** Adds the time since the last observation to what was present then: it was present until now. */
function passTime({ present, open, unknown }: MachineState, atMs: number): void {
  if (!present) return;
  const ms = atMs - present.atMs;
  if (present.outcome === 'Indeterminate') {
    const found = unknown.get(reasonKey(present.because)) ?? unknown.get(OTHER_REASONS);
    if (found) found.ms += ms;
  }
  if (!open || !isIllOutcome(present.outcome)) return;
  open.matchedMs += ms;
  if (present.outcome === 'Held') open.heldMs += ms;
}

function change(state: MachineState, observed: ObservedRule, atMs: number): void {
  const { outcome, because, sinceMs } = observed;
  if (sinceMs === undefined) close(state);
  if (isIllOutcome(outcome)) continueCase(state, observed, atMs);
  else if (state.open) state.open.lastMs ??= atMs;
  if (outcome === 'Indeterminate' && !isSameUnknown(state.present, because)) countUnknown(state, because);
}

function continueCase(state: MachineState, { because, wait }: ObservedRule, atMs: number): void {
  const begun = { fromMs: atMs, because, lastMs: undefined, matchedMs: 0, heldMs: 0 };
  const open: OpenCase = state.open ?? { ...begun, asks: [], waits: new Map<string, string>() };
  state.open = open;
  open.lastMs = undefined;
  if (wait === undefined || open.waits.size >= MAX_REASONS) return;
  const key = reasonKey(wait);
  if (!open.waits.has(key)) open.waits.set(key, wait);
}

function isSameUnknown(present: MachineState['present'], because: string): boolean {
  return present?.outcome === 'Indeterminate' && reasonKey(present.because) === reasonKey(because);
}

function countUnknown({ unknown }: MachineState, because: string): void {
  const isFull = unknown.size >= MAX_REASONS;
  const known = reasonKey(because);
  const key = unknown.has(known) || !isFull ? known : OTHER_REASONS;
  const found = unknown.get(key) ?? { because: key === known ? because : OTHER_REASONS, times: 0, ms: 0 };
  found.times += 1;
  unknown.set(key, found);
}

function close(state: MachineState): void {
  const { open, cases } = state;
  if (!open) return;
  state.open = undefined;
  if (cases.length >= MAX_CASES) {
    state.more += 1;
    return;
  }
  cases.push({
    from: timeOf(open.fromMs),
    ...optional('to', open.lastMs === undefined ? undefined : timeOf(open.lastMs)),
    matchedSeconds: seconds(open.matchedMs),
    heldSeconds: seconds(open.heldMs),
    because: open.because,
    asks: open.asks,
    waits: [...open.waits.values()],
  });
}

/** Tells whether the outcome means a fault. A closed gate does not mean that the node is well. */
function isIllOutcome(outcome: RuleOutcome): boolean {
  return outcome === 'Match' || outcome === 'Held';
}

/** Returns the key of a reason: reasons that differ only in a number count as one. */
function reasonKey(because: string): string {
  return because.replaceAll(/\d+(\.\d+)?/g, '0');
}

function seconds(ms: number): number {
  return Math.round(ms / 1000);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
