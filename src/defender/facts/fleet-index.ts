/**
 * Counts of machines by group, kept current with each change of a machine, so that a decision never reads the fleet.
 * A change costs one update for each grouping; a count costs nothing.
 */
import type { Selector } from '../../api/generated/types.ts';
import { isSelected } from '../../kube/objects/selector.ts';
import { type GroupCounts, type MachineFacts, NO_MACHINES, STATE_BITS } from './facts.ts';
import { type Grouping, groupKeys } from './grouping.ts';

export interface FleetIndex {
  /** Replaces the groupings and counts all machines again. Call it when policies change. */
  setGroupings(groupings: readonly Grouping[], isForeign: (machine: MachineFacts) => boolean): void;
  put(machine: MachineFacts): void;
  remove(name: string): void;
  machine(name: string): MachineFacts | undefined;
  machines(): Iterable<MachineFacts>;
  statesOf(machine: MachineFacts): number;
  group(grouping: string, key: string): GroupCounts;
  groupKeys(grouping: string): readonly string[];
  createdAfter(moment: Date): readonly MachineFacts[];
  faulty(): Iterable<MachineFacts>;
  withUnknownFacts(): readonly MachineFacts[];
  unknownSince(selector?: Selector): readonly Date[];
}

interface MutableCounts {
  total: number;
  readonly byStates: number[];
}

interface CountedGrouping {
  readonly grouping: Grouping;
  readonly counts: Map<string, MutableCounts>;
}

const STATES = 16;

function isNeverForeign(): boolean {
  return false;
}

export function createFleetIndex(): FleetIndex {
  const machines = new Map<string, MachineFacts>();
  const faulty = new Map<string, MachineFacts>();
  const unknown = new Map<string, MachineFacts>();
  const unknownFacts = new Map<string, MachineFacts>();
  const young = createYoung();
  /** By selector, the same list until a machine changes: what is computed from it is kept with it. */
  const unknownLists = new Map<Selector | undefined, readonly Date[]>();
  let groupings = new Map<string, CountedGrouping>();
  let isForeign: (machine: MachineFacts) => boolean = isNeverForeign;

  return {
    setGroupings,
    put,
    remove,
    machine: (name) => machines.get(name),
    machines: () => machines.values(),
    statesOf,
    group: (grouping, key) => groupings.get(grouping)?.counts.get(key) ?? NO_MACHINES,
    groupKeys: (grouping) => [...(groupings.get(grouping)?.counts.keys() ?? [])],
    createdAfter: (moment) => young.after(moment),
    faulty: () => faulty.values(),
    withUnknownFacts: () => [...unknownFacts.values()],
    unknownSince,
  };

  function setGroupings(next: readonly Grouping[], foreign: typeof isForeign): void {
    isForeign = foreign;
    groupings = new Map(next.map((grouping) => [grouping.id, { grouping, counts: new Map() }]));
    for (const machine of machines.values()) count(machine, 1);
    unknownLists.clear();
  }

  function unknownSince(selector?: Selector): readonly Date[] {
    const known = unknownLists.get(selector);
    if (known) return known;
    const list = [...unknown.values()]
      .filter(({ labels }) => selector === undefined || isSelected(selector, labels))
      .flatMap((machine) => machine.unknownSince ?? []);
    unknownLists.set(selector, list);
    return list;
  }

  function put(machine: MachineFacts): void {
    remove(machine.name);
    machines.set(machine.name, machine);
    young.put(machine);
    if (machine.established && machine.faults) faulty.set(machine.name, machine);
    if (machine.established && machine.unknownFacts) unknownFacts.set(machine.name, machine);
    if (machine.established && machine.unknownSince) {
      unknown.set(machine.name, machine);
      unknownLists.clear();
    }
    count(machine, 1);
  }

  function remove(name: string): void {
    const before = machines.get(name);
    if (!before) return;
    machines.delete(name);
    faulty.delete(name);
    unknownFacts.delete(name);
    young.remove(before);
    if (unknown.delete(name)) unknownLists.clear();
    count(before, -1);
  }

  function count(machine: MachineFacts, change: 1 | -1): void {
    if (!machine.established) return;
    const states = statesOf(machine);
    for (const { grouping, counts } of groupings.values()) {
      if (!isSelected(grouping.selector, machine.labels)) continue;
      for (const key of groupKeys(grouping, machine)) countIn(counts, key, { states, change });
    }
  }

  function statesOf(machine: MachineFacts): number {
    const ready = machine.readiness === 'Ready' ? 0 : STATE_BITS[machine.readiness];
    const cordoned = machine.cordoned ? STATE_BITS.Cordoned : 0;
    return ready | cordoned | (isForeign(machine) ? STATE_BITS.ForeignMaintenance : 0);
  }
}

interface Young {
  put(machine: MachineFacts): void;
  remove(machine: MachineFacts): void;
  /** The established machines whose Nodes were created after this moment. */
  after(moment: Date): readonly MachineFacts[];
}

const HOUR_MS = 3_600_000;

/** By the hour in which the Node was created: most of a fleet is older than any moment that is asked for. */
function createYoung(): Young {
  const byHour = new Map<number, Map<string, MachineFacts>>();
  return {
    put(machine) {
      const { name, established, nodeCreatedAt } = machine;
      if (!established || !nodeCreatedAt) return;
      const hour = hourOf(nodeCreatedAt);
      const created = byHour.get(hour) ?? new Map<string, MachineFacts>();
      byHour.set(hour, created.set(name, machine));
    },
    remove({ name, nodeCreatedAt }) {
      if (!nodeCreatedAt) return;
      const hour = hourOf(nodeCreatedAt);
      const created = byHour.get(hour);
      if (created?.delete(name) && created.size === 0) byHour.delete(hour);
    },
    after(moment) {
      const since = hourOf(moment);
      return [...byHour]
        .filter(([hour]) => hour >= since)
        .flatMap(([, created]) => [...created.values()])
        .filter(({ nodeCreatedAt }) => nodeCreatedAt && nodeCreatedAt > moment);
    },
  };
}

function hourOf(moment: Date): number {
  return Math.floor(+moment / HOUR_MS);
}

interface CountChange {
  readonly states: number;
  readonly change: 1 | -1;
}

function countIn(counts: CountedGrouping['counts'], key: string, { states, change }: CountChange): void {
  const counted = counts.get(key) ?? { total: 0, byStates: Array.from({ length: STATES }, () => 0) };
  counted.total += change;
  counted.byStates[states] = (counted.byStates[states] ?? 0) + change;
  if (counted.total > 0) counts.set(key, counted);
  else counts.delete(key);
}
