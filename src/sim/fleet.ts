/** The fleet as it really is: machines, what befalls them, and the conditions of the cluster. Guards never see it directly. */

import type { Grant, GrantAsk } from '../api/grants.ts';
import type { MachineFacts, RepairFact } from '../defender/facts/facts.ts';
import { BLOCKING_LABEL, FOREIGN_TAINT } from './policies.ts';
import type { Random } from './random.ts';

export interface SimulatedMachine {
  readonly name: string;
  readonly zone: string;
  readonly pool: string;
  readonly isControlPlane: boolean;
  uid: number;
  createdMs: number;
  isReady: boolean;
  /** Its agent is cut off: others see Unknown. */
  isSilent: boolean;
  silentSinceMs: number;
  isCordoned: boolean;
  isHeld: boolean;
  isForeign: boolean;
  hasBlockingPod: boolean;
  /** When one of the fields above last changed: others may not have observed it yet. */
  changedMs: number;
  repairs: RepairFact[];
  act: SimulatedAct | undefined;
}

export interface SimulatedAct {
  readonly grant: Grant;
  readonly ask: GrantAsk;
  readonly endsMs: number;
  readonly willFail: boolean;
}

/** Conditions that come and go, each with the time since when it holds. */
export const HAZARDS = [
  'stopped',
  'frozen',
  'alerting',
  'viewCut',
  'apiErrors',
  'clockWrong',
  'zoneDark',
  'zonalShift',
  'massUnknown',
  'badImage',
] as const;
export type Hazard = (typeof HAZARDS)[number];

export interface SimulatedFleet {
  readonly machines: readonly SimulatedMachine[];
  readonly hazards: Map<Hazard, { readonly sinceMs: number; readonly untilMs: number }>;
  nowMs: number;
}

export const ZONES = ['a', 'b', 'c'] as const;
const DAY_MS = 86_400_000;

export function createFleet(size: number, startMs: number): SimulatedFleet {
  const machines = Array.from(
    { length: size },
    (_, index): SimulatedMachine => ({
      name: `m-${index}`,
      zone: ZONES[index % ZONES.length] ?? 'a',
      // The last two machines are a pool of their own, in which one failure leaves one that serves.
      pool: index < size - 2 ? 'general' : 'pair',
      isControlPlane: index < 3,
      uid: 1,
      createdMs: startMs - DAY_MS,
      isReady: true,
      isSilent: false,
      silentSinceMs: 0,
      isCordoned: false,
      isHeld: false,
      isForeign: false,
      hasBlockingPod: false,
      changedMs: 0,
      repairs: [],
      act: undefined,
    }),
  );
  return { machines, hazards: new Map(), nowMs: startMs };
}

/** Since how long the condition holds; 0: it does not. */
export function hazardAgeMs({ hazards, nowMs }: SimulatedFleet, hazard: Hazard): number {
  const found = hazards.get(hazard);
  return found && nowMs < found.untilMs ? nowMs - found.sinceMs : 0;
}

export function isOn(fleet: SimulatedFleet, hazard: Hazard): boolean {
  const found = fleet.hazards.get(hazard);
  return found !== undefined && fleet.nowMs < found.untilMs;
}

/** One step of time for everything that happens by chance. Returns the machines that changed. */
export function befall(fleet: SimulatedFleet, random: Random, stepMs: number): ReadonlySet<SimulatedMachine> {
  const changed = new Set<SimulatedMachine>();
  for (const hazard of HAZARDS) startHazard(fleet, random, { hazard, stepMs });
  const perStep = (stepMs / DAY_MS) * fleet.machines.length;
  // Each machine fails about once a week, and meets each of the other things about once a month.
  if (random.chance(perStep / 7)) change((machine) => (machine.isReady = false));
  for (const flag of FLAGS) {
    if (random.chance(perStep / 30)) change((machine) => (machine[flag] = true));
    if (random.chance(perStep / 10)) change((machine) => (machine[flag] = false));
  }
  if (random.chance(perStep / 30)) change(renew);
  zoneAndSilence(fleet, changed);
  return changed;

  function change(apply: (machine: SimulatedMachine) => void): void {
    const machine = random.pick(fleet.machines);
    if (!machine) return;
    apply(machine);
    machine.changedMs = fleet.nowMs;
    changed.add(machine);
  }

  function renew(machine: SimulatedMachine): void {
    machine.uid += 1;
    machine.createdMs = fleet.nowMs;
    machine.isReady = random.chance(0.5);
  }
}

const FLAGS = ['isCordoned', 'isHeld', 'isForeign', 'hasBlockingPod'] as const;

function startHazard(
  fleet: SimulatedFleet,
  random: Random,
  { hazard, stepMs }: { hazard: Hazard; stepMs: number },
): void {
  // About once in two days, for up to an hour.
  if (isOn(fleet, hazard) || !random.chance(stepMs / (2 * DAY_MS))) return;
  const lasts = 600_000 + random.below(3_000_000);
  fleet.hazards.set(hazard, { sinceMs: fleet.nowMs, untilMs: fleet.nowMs + lasts });
}

/** The machines of a dark zone are not Ready; of a cut fleet, every fourth is silent. */
function zoneAndSilence(fleet: SimulatedFleet, changed: Set<SimulatedMachine>): void {
  const isDark = isOn(fleet, 'zoneDark');
  const isCut = isOn(fleet, 'massUnknown');
  for (const [index, machine] of fleet.machines.entries()) {
    if (isDark && machine.zone === 'a' && machine.isReady && !machine.isControlPlane) {
      machine.isReady = false;
      changed.add(machine);
    }
    const isSilent = isCut && index % 4 === 1;
    if (isSilent === machine.isSilent) continue;
    machine.isSilent = isSilent;
    machine.silentSinceMs = fleet.nowMs;
    changed.add(machine);
  }
}

export function factsOf(machine: SimulatedMachine): MachineFacts {
  const {
    name,
    zone,
    pool,
    uid,
    createdMs,
    isReady,
    isSilent,
    isCordoned,
    isHeld,
    isForeign,
    hasBlockingPod,
  } = machine;
  const readiness = isReady ? 'Ready' : 'NotReady';
  return {
    name,
    labels: {},
    zone,
    pool,
    nodeUID: String(uid),
    nodeCreatedAt: new Date(createdMs),
    readiness: isSilent ? 'Unknown' : readiness,
    ...(isSilent ? { unknownSince: new Date(machine.silentSinceMs) } : {}),
    established: true,
    cordoned: isCordoned,
    taints: isForeign ? [FOREIGN_TAINT] : [],
    foreignLeases: [],
    blockingPods: hasBlockingPod ? { [BLOCKING_LABEL]: 'shop/cart' } : {},
    ...(isHeld ? { holds: [{ reason: 'debugging', scope: 'All' }] } : {}),
    excluded: false,
    paused: false,
    hasLocalData: false,
    repairs: [...machine.repairs],
    isControlPlane: machine.isControlPlane,
    dimensions: {},
  };
}
