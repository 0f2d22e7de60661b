/**
 * How much of each concurrency limit the ledger uses: acts in flight, settled ones that linger, and machines that were
 * deleted and not replaced. Counted once for a ledger, when it is first asked; each grant of the same batch is added. Pure.
 */
import type { DefenderLedgerSpec, LedgerGone, LedgerGrant } from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import type { FleetFacts, MachineFacts } from '../facts/facts.ts';
import { groupKey } from '../facts/grouping.ts';
import { isActOf } from '../policies/matches.ts';
import type { PreparedLimit, PreparedPolicies, PreparedPolicy } from '../policies/prepare.ts';
import { holderKey, isLapsed, isLingering, lingersUntil, takesNodeDown } from './entries.ts';

export interface LimitUse {
  /** The number of acts in flight, settled acts that linger, and machines that were deleted and not replaced. */
  readonly taken: number;
  /** The part of `taken` that no count of the facts includes. */
  readonly uncounted: number;
  /** Machines that were deleted and not replaced: they belong to the size of the group. */
  readonly deleted: number;
}

export interface LedgerUsage {
  /** Returns the use of a limit without what the machine `besides` uses itself: each machine counts once. */
  of(limit: PreparedLimit, key: string, besides: string): LimitUse;
  /**
   * Returns when so many of those that are counted stop to count by themselves; undefined when that does not suffice: an act in
   * work has to end, or a machine to come back.
   */
  freesAt(limit: PreparedLimit, freed: FreedUse): Date | undefined;
  /** Machines of the pool that serve until the act in flight takes their node down. */
  nodesDownIn(pool: string): ReadonlySet<string>;
  /** Returns the size of the ledger as it is stored. It is computed at the first call. */
  bytes(): number;
  /** Adds an entry, which replaces what the machine used before. */
  add(machine: string, entry: LedgerGrant): void;
}

export interface FreedUse {
  readonly key: string;
  readonly besides: string;
  readonly part: 'taken' | 'uncounted';
  readonly count: number;
}

export interface UsageInput {
  readonly policies: PreparedPolicies;
  readonly ledger: DefenderLedgerSpec;
  readonly facts: Pick<FleetFacts, 'machine' | 'statesOf'>;
  readonly now: Date;
}

const UNUSED: LimitUse = { taken: 0, uncounted: 0, deleted: 0 };

const NO_NAMES: ReadonlySet<string> = new Set();

interface MachineUse extends LimitUse {
  readonly key: string;
  /** When the grant stops to count, in milliseconds; NaN while the act is not settled. */
  readonly lingersUntil: number;
}

interface LimitUses {
  readonly byKey: Map<string, LimitUse>;
  readonly byMachine: Map<string, MachineUse>;
}

export function createLedgerUsage({ policies, ledger, facts, now }: UsageInput): LedgerUsage {
  const uses = new Map<PreparedLimit, LimitUses>();
  const nodesDown = new Map<string, Set<string>>();
  let stored: number | undefined;
  let isCounted = false;

  return {
    of,
    freesAt(limit, freed) {
      countOnce();
      return lingerEnd(uses.get(limit), freed);
    },
    add: (machine, entry) => {
      if (stored !== undefined) stored += jsonBytes({ [machine]: entry });
      countOnce();
      add(machine, entry);
    },
    bytes: () => (stored ??= jsonBytes(ledger)),
    nodesDownIn(pool) {
      countOnce();
      return nodesDown.get(pool) ?? NO_NAMES;
    },
  };

  /** Counts at the first need only: most writes of the ledger renew or settle, and ask for no count. */
  function countOnce(): void {
    if (isCounted) return;
    isCounted = true;
    for (const [machine, entry] of Object.entries(ledger.gone)) addDeleted(machine, entry);
    for (const [machine, entry] of Object.entries(ledger.grants)) {
      if (!isLapsed(entry, now)) add(machine, entry);
    }
  }

  function of(limit: PreparedLimit, key: string, besides: string): LimitUse {
    countOnce();
    const found = uses.get(limit);
    const use = found?.byKey.get(key) ?? UNUSED;
    const own = found?.byMachine.get(besides);
    return own?.key === key ? sum(use, own, -1) : use;
  }

  function add(machine: string, entry: LedgerGrant): void {
    const known = facts.machine(machine);
    const states = establishedStates(facts, known);
    if (known) noteDown(known, entry);
    for (const policy of policies.valid.filter(
      (each) => isCountedBy(each, entry, now) && isInScope(each, known),
    )) {
      const isInFacts = (states & policy.countedStates) !== 0 || !policy.countsInFlight;
      const until = lingersUntil(entry, policy.spec.counting.lingerSeconds);
      const use = { taken: 1, uncounted: isInFacts ? 0 : 1, deleted: 0, lingersUntil: until };
      for (const limit of policy.limits) {
        if (!isLimited(policy, limit, entry)) continue;
        record(uses, limit, machine, { key: keyOf(limit, entry, known), ...use });
      }
    }
  }

  function noteDown({ name, pool }: MachineFacts, entry: LedgerGrant): void {
    if (pool === undefined || !isServing(name)) return;
    const names = nodesDown.get(pool) ?? new Set<string>();
    nodesDown.set(pool, names);
    if (isInFlight(entry) && takesNodeDown(entry.risk)) names.add(name);
    else names.delete(name);
  }

  function isServing(name: string): boolean {
    const known = facts.machine(name);
    return known?.established === true && facts.statesOf(known) === 0;
  }

  function addDeleted(machine: string, entry: LedgerGone): void {
    // The machine is back under its name.
    if (facts.machine(machine)?.established) return;
    // The ledger keeps no labels of deleted machines, so limits per label do not count them.
    const keyed = { ...entry, labels: {} };
    for (const { limits } of policies.valid.filter(({ countsDeleted }) => countsDeleted)) {
      for (const limit of limits) {
        const { grouping } = limit;
        if (!grouping || grouping.per === 'Label') continue;
        const key = groupKey(grouping, keyed);
        record(uses, limit, machine, { key, taken: 1, uncounted: 1, deleted: 1, lingersUntil: Number.NaN });
      }
    }
  }
}

function record(
  uses: Map<PreparedLimit, LimitUses>,
  limit: PreparedLimit,
  machine: string,
  use: MachineUse,
): void {
  const { byKey, byMachine } = uses.get(limit) ?? emptyUses();
  const before = byMachine.get(machine);
  if (before) byKey.set(before.key, sum(byKey.get(before.key) ?? UNUSED, before, -1));
  byKey.set(use.key, sum(byKey.get(use.key) ?? UNUSED, use, 1));
  byMachine.set(machine, use);
  uses.set(limit, { byKey, byMachine });
}

function lingerEnd(uses: LimitUses | undefined, { key, besides, part, count }: FreedUse): Date | undefined {
  const ends = [...(uses?.byMachine ?? [])].flatMap(([machine, use]) => {
    const isLeaving = machine !== besides && use.key === key && use[part] > 0;
    return isLeaving && !Number.isNaN(use.lingersUntil) ? [use.lingersUntil] : [];
  });
  const last = ends.toSorted((a, b) => a - b)[count - 1];
  return last === undefined ? undefined : new Date(last);
}

function establishedStates(facts: UsageInput['facts'], machine: MachineFacts | undefined): number {
  return machine?.established ? facts.statesOf(machine) : 0;
}

export function jsonBytes(value: object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

function emptyUses(): LimitUses {
  return { byKey: new Map(), byMachine: new Map() };
}

function sum(a: LimitUse, b: LimitUse, sign: 1 | -1): LimitUse {
  return {
    taken: a.taken + sign * b.taken,
    uncounted: a.uncounted + sign * b.uncounted,
    deleted: a.deleted + sign * b.deleted,
  };
}

function isCountedBy({ spec }: PreparedPolicy, entry: LedgerGrant, now: Date): boolean {
  return isInFlight(entry) || isLingering(entry, spec.counting.lingerSeconds, now);
}

/** A machine that is not known counts in every policy: nothing shows that it was not selected. */
function isInScope({ spec }: PreparedPolicy, machine: MachineFacts | undefined): boolean {
  return machine === undefined || isSelected(spec.scope.nodeSelector, machine.labels);
}

function isLimited(policy: PreparedPolicy, { limit, grouping }: PreparedLimit, entry: LedgerGrant): boolean {
  if (grouping && takesNodeDown(entry.risk)) return true;
  return isActOf(policy.spec.scope, entry) && isActOf(limit, entry);
}

function keyOf({ grouping }: PreparedLimit, entry: LedgerGrant, machine: MachineFacts | undefined): string {
  if (!grouping) return holderKey(entry.holder);
  return groupKey(grouping, machine ?? recorded(entry));
}

/** The machine as it was when the grant was issued. */
function recorded({ keys = {} }: LedgerGrant): Pick<MachineFacts, 'labels' | 'zone' | 'pool'> {
  const { zone, pool } = keys;
  return { labels: keys, ...(zone === undefined ? {} : { zone }), ...(pool === undefined ? {} : { pool }) };
}
