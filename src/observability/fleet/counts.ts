/** Counts machines, their agents, components and waiting repairs, for the metrics of a cluster. Pure. */
import { DENY_REASONS } from '../../api/deny-reasons.ts';
import type { Machine } from '../../api/generated/types.ts';
import { machinePhases } from '../../api/status/phase-tables.ts';
import { conditionOf, conditionStatus } from '../../kube/objects/conditions.ts';
import { secondsBetween } from '../../os/dates.ts';
import type { AGENT_STATES, COVERAGE_STATES, MACHINE_STATES } from '../metrics/machine.ts';
import { type ComponentUse, usesOf } from './component-uses.ts';
import { type WorstMachine, worstMachines } from './worst-machines.ts';

export type CountedMachineState = (typeof MACHINE_STATES)[number];
export type AgentState = (typeof AGENT_STATES)[number];

export interface FleetCounts {
  readonly machines: ReadonlyMap<CountedMachineState, number>;
  /** Machines in a phase of CHANGING. */
  readonly changing: number;
  readonly agents: ReadonlyMap<AgentState, number>;
  /** The first end of the certificate of an agent that reports. */
  readonly certificateEnd: Date | undefined;
  readonly components: ReadonlyMap<string, ComponentCounts>;
  readonly waits: readonly RuleWaits[];
  /** The machines that were repaired most. */
  readonly worst: readonly WorstMachine[];
}

export interface ComponentCounts {
  readonly states: Readonly<Record<(typeof COVERAGE_STATES)[number], number>>;
  /** For how long the machine differs that has differed longest; 0 if all are as desired. */
  readonly differingSeconds: number;
}

/** The machines that one rule does not repair for one reason. */
export interface RuleWaits {
  readonly rule: string;
  readonly reason: string;
  readonly machines: number;
  /** Since the machine that waits longest began to. */
  readonly seconds: number;
  /** The Defender denied, so that time or a person must change something. */
  readonly isDenied: boolean;
}

const DENIALS: ReadonlySet<string> = new Set(DENY_REASONS);

export function countFleet(machines: readonly Machine[], now: Date): FleetCounts {
  return {
    machines: countsOf(machines, machineState),
    changing: machines.filter(isChanging).length,
    agents: countsOf(machines, agentState),
    certificateEnd: firstEnd(machines),
    components: countComponents(machines, now),
    waits: countWaits(machines, now),
    worst: worstMachines(machines, now),
  };
}

/** A machine that was once in service counts from then on, also without its Node. */
export function machineState({ metadata: { deletionTimestamp }, status }: Machine): CountedMachineState {
  if (deletionTimestamp !== undefined) return 'Deleting';
  const conditions = status?.conditions;
  if (conditionStatus(conditions, 'Ready') === 'True') return 'Ready';
  if (status?.node?.establishedAt === undefined) return 'Joining';
  return conditionStatus(conditions, 'Held') === 'True' ? 'Held' : 'NotReady';
}

const CHANGING: ReadonlySet<string> = new Set(['Creating', 'Importing', 'Joining', 'Updating']);

/** Tells whether a machine is created, imported, joins or is brought to what is desired. */
export function isChanging({ metadata, status }: Machine): boolean {
  const { deletionTimestamp, generation } = metadata;
  return CHANGING.has(
    machinePhases.phaseOf({ conditions: status?.conditions, deletionTimestamp, generation }),
  );
}

/** An agent that never reported is not silent yet. */
export function agentState({ status }: Machine): AgentState {
  if (conditionStatus(status?.conditions, 'AgentReady') === 'True') return 'Reporting';
  return status?.agent?.startedAt === undefined ? 'Joining' : 'Silent';
}

function countsOf<S extends string>(
  machines: readonly Machine[],
  stateOf: (machine: Machine) => S,
): ReadonlyMap<S, number> {
  const counts = new Map<S, number>();
  for (const machine of machines) {
    const state = stateOf(machine);
    counts.set(state, (counts.get(state) ?? 0) + 1);
  }
  return counts;
}

function firstEnd(machines: readonly Machine[]): Date | undefined {
  let first = Infinity;
  for (const machine of machines) {
    if (agentState(machine) !== 'Reporting') continue;
    const end = Date.parse(machine.status?.agent?.certificateNotAfter ?? '');
    if (end < first) first = end;
  }
  return Number.isFinite(first) ? new Date(first) : undefined;
}

interface MutableCounts {
  readonly states: Record<keyof ComponentCounts['states'], number>;
  differingSeconds: number;
}

function countComponents(machines: readonly Machine[], now: Date): ReadonlyMap<string, ComponentCounts> {
  const counts = new Map<string, MutableCounts>();
  for (const machine of machines) {
    const seconds = differingSeconds(machine, now);
    for (const use of usesOf(machine)) {
      const found = counts.get(use.component) ?? newCounts();
      counts.set(use.component, found);
      addUse(found, use, seconds);
    }
  }
  return counts;
}

function newCounts(): MutableCounts {
  return {
    states: { Desired: 0, Installed: 0, Consistent: 0, Failed: 0, Differing: 0 },
    differingSeconds: 0,
  };
}

function addUse(counts: MutableCounts, use: ComponentUse, seconds: number): void {
  const { states } = counts;
  const isDesired = use.desiredRef !== undefined;
  if (isDesired) states.Desired += 1;
  if (use.currentRef !== undefined) states.Installed += 1;
  if (isDesired && use.isConsistent) states.Consistent += 1;
  if (use.isFailed) states.Failed += 1;
  if (use.isConsistent) return;
  states.Differing += 1;
  counts.differingSeconds = Math.max(counts.differingSeconds, seconds);
}

/** Since the machine was last up to date. The time at which the component was assigned is not recorded. */
function differingSeconds({ status }: Machine, now: Date): number {
  const upToDate = conditionOf(status?.conditions, 'UpToDate');
  if (!upToDate || upToDate.status === 'True') return 0;
  return Math.max(0, secondsBetween(new Date(upToDate.lastTransitionTime), now));
}

function countWaits(machines: readonly Machine[], now: Date): readonly RuleWaits[] {
  const found = new Map<string, RuleWaits>();
  for (const { status } of machines) {
    for (const { rule, reason, since } of status?.remedyWaits ?? []) {
      const key = `${rule} ${reason}`;
      const before = found.get(key) ?? { machines: 0, seconds: 0 };
      const seconds = Math.max(before.seconds, secondsBetween(new Date(since), now));
      found.set(key, { rule, reason, machines: before.machines + 1, seconds, isDenied: DENIALS.has(reason) });
    }
  }
  return [...found.values()];
}
