/** Simulates the fleet as it really is: machines, what befalls them, and the conditions of the cluster. Guards never read it directly. */
import type { Grant, GrantAsk } from '../api/grants.ts';
import type { MachineFacts, RepairFact } from '../defender/facts/facts.ts';
import type { Faults } from '../defender/facts/fault-since.ts';
import { optional } from '../kube/objects/optional.ts';
import { linkCutSinceMs, type ProbedMachine, probeCutMachine } from './machines/link-cut.ts';
import { BLOCKING_LABEL, FOREIGN_TAINT } from './policies.ts';
import type { Random } from './random.ts';

/** `rack` is absent in a small fleet, whose zones are racks. */
export interface SimulatedMachine extends ProbedMachine {
  readonly pool: string;
  readonly isControlPlane: boolean;
  /** The version of the kubelet. */
  readonly version: string;
  uid: number;
  createdMs: number;
  isReady: boolean;
  /** Whether it is not Ready because its zone is dark: it is Ready again when the zone returns. */
  isDark: boolean;
  /** Whether its agent is cut off: others observe Unknown. */
  isSilent: boolean;
  /** The time when others observed that it is not Ready; 0: it is Ready. */
  brokenMs: number;
  silentSinceMs: number;
  isCordoned: boolean;
  isHeld: boolean;
  isForeign: boolean;
  hasBlockingPod: boolean;
  /** The time when one of the fields above last changed: others may not have observed the change yet. */
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

/** The conditions that come and go, each with the time since when it holds. */
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
  'badVersion',
] as const;
/** A rack is cut by the clock, not by chance: see `cutRacks`. */
export type Hazard = (typeof HAZARDS)[number] | 'rackCut';

export interface SimulatedFleet {
  readonly machines: readonly SimulatedMachine[];
  readonly byName: ReadonlyMap<string, SimulatedMachine>;
  readonly controlPlane: readonly SimulatedMachine[];
  /** The machines with an act in work. */
  readonly acting: Set<SimulatedMachine>;
  /** Hazards that machines showed in the last step. */
  readonly shown: { isDark: boolean; isCut: boolean; hasCutRack: boolean };
  readonly hazards: Map<Hazard, { readonly sinceMs: number; readonly untilMs: number }>;
  nowMs: number;
}

/** The version that every fifth of the first machines has. */
export const NEW_VERSION = 'v1.35.0';
const TRIED_ON = 100;
const OLD_VERSION = 'v1.34.2';

const RACK = 'topology.kubernetes.io/rack';
export const ZONES = ['a', 'b', 'c'] as const;
const DAY_MS = 86_400_000;
/** In a fleet that is smaller, one rack is more than a limit of the policy permits at once. */
const SMALLEST_WITH_RACKS = 90;
const RACK_SIZE = 5;
/** A rack without members of the control plane. */
const CUT_RACK = 'a-1';

function rackOf(index: number, size: number): Pick<SimulatedMachine, 'rack'> {
  if (size < SMALLEST_WITH_RACKS) return {};
  const zone = ZONES[index % ZONES.length] ?? 'a';
  return { rack: `${zone}-${Math.floor(index / ZONES.length / RACK_SIZE)}` };
}

export function createFleet(size: number, startMs: number): SimulatedFleet {
  const machines = Array.from(
    { length: size },
    (_, index): SimulatedMachine => ({
      name: `m-${index}`,
      zone: ZONES[index % ZONES.length] ?? 'a',
      ...rackOf(index, size),
      // The last two machines are a pool of their own, in which one failure leaves one that serves.
      pool: index < size - 2 ? 'general' : 'pair',
      isControlPlane: index < 3,
      version: index < TRIED_ON && index % 5 === 4 ? NEW_VERSION : OLD_VERSION,
      uid: 1,
      createdMs: startMs - DAY_MS,
      isReady: true,
      isDark: false,
      brokenMs: 0,
      isSilent: false,
      silentSinceMs: 0,
      isCordoned: false,
      isHeld: false,
      isForeign: false,
      hasBlockingPod: false,
      changedMs: 0,
      repairs: [],
      act: undefined,
      silence: undefined,
      answers: [],
    }),
  );
  const byName = new Map(machines.map((machine) => [machine.name, machine]));
  const controlPlane = machines.filter(({ isControlPlane }) => isControlPlane);
  const shown = { isDark: false, isCut: false, hasCutRack: false };
  return { machines, byName, controlPlane, acting: new Set(), shown, hazards: new Map(), nowMs: startMs };
}

/** Returns how long the condition has held; 0: it does not hold. */
export function hazardAgeMs({ hazards, nowMs }: SimulatedFleet, hazard: Hazard): number {
  const found = hazards.get(hazard);
  return found && nowMs < found.untilMs ? nowMs - found.sinceMs : 0;
}

export function isOn(fleet: SimulatedFleet, hazard: Hazard): boolean {
  const found = fleet.hazards.get(hazard);
  return found !== undefined && fleet.nowMs < found.untilMs;
}

/** Simulates one step of time for everything that happens by chance. Returns the machines that changed. */
export function befall(fleet: SimulatedFleet, random: Random, stepMs: number): ReadonlySet<SimulatedMachine> {
  const changed = new Set<SimulatedMachine>();
  for (const hazard of HAZARDS) startHazard(fleet, random, { hazard, stepMs });
  const perStep = (stepMs / DAY_MS) * fleet.machines.length;
  // Each machine fails about once a week, and meets each of the other things about once a month, for half a day: most limits have room.
  if (random.chance(perStep / 7)) change((machine) => (machine.isReady = false));
  for (const flag of FLAGS) {
    if (random.chance(perStep / 30)) change((machine) => (machine[flag] = true));
    if (random.chance(perStep * 2)) change((machine) => (machine[flag] = false));
  }
  if (random.chance(perStep / 30)) change(renew);
  breakVersion(fleet, random, changed);
  cutRacks(fleet);
  cutLink(fleet, changed);
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

/** Breaks machines of a bad version: while the hazard lasts, every twentieth machine of the version fails in a minute. */
function breakVersion(fleet: SimulatedFleet, random: Random, changed: Set<SimulatedMachine>): void {
  if (!isOn(fleet, 'badVersion')) return;
  for (const machine of fleet.machines) {
    const mayFail = machine.version === NEW_VERSION && machine.isReady && !machine.act;
    if (!mayFail || !random.chance(0.05)) continue;
    changed.add(Object.assign(machine, { isReady: false, changedMs: fleet.nowMs }));
  }
}

export function beginAct(fleet: SimulatedFleet, machine: SimulatedMachine, act: SimulatedAct): void {
  machine.act = act;
  fleet.acting.add(machine);
}

export function endAct(fleet: SimulatedFleet, machine: SimulatedMachine): void {
  machine.act = undefined;
  fleet.acting.delete(machine);
}

const CUT_EVERY_MS = 5 * 3_600_000;
const CUT_MS = 2_400_000;

/** Cuts off the first rack for forty minutes of each five hours. Its machines are well: only nothing is heard of them. */
function cutRacks({ hazards, machines, nowMs }: SimulatedFleet): void {
  if (machines[0]?.rack === undefined) return;
  const sinceMs = nowMs - (nowMs % CUT_EVERY_MS);
  if (nowMs - sinceMs < CUT_MS) hazards.set('rackCut', { sinceMs, untilMs: sinceMs + CUT_MS });
}

/** A machine in another rack, outside of the control plane, and not one of those that a cut of the fleet silences. */
const LINK_CUT = 8;

/** Cuts the link of one machine by the clock. Its peers probe it then. */
function cutLink(fleet: SimulatedFleet, changed: Set<SimulatedMachine>): void {
  const machine = linkCutMachine(fleet);
  if (!machine) return;
  for (const each of probeCutMachine(machine, fleet.machines, fleet.nowMs)) changed.add(each);
}

/** Returns the machine whose own link may be cut. Without racks one silent machine is more than a limit permits. */
function linkCutMachine({ machines }: SimulatedFleet): SimulatedMachine | undefined {
  return machines[0]?.rack === undefined ? undefined : machines[LINK_CUT];
}

/** Tells whether the machine works, and only its own link is cut. */
export function isLinkCut(fleet: SimulatedFleet, machine: SimulatedMachine): boolean {
  return machine === linkCutMachine(fleet) && linkCutSinceMs(fleet.nowMs) !== undefined;
}

export function isInCutRack(fleet: SimulatedFleet, { rack }: SimulatedMachine): boolean {
  return rack === CUT_RACK && isOn(fleet, 'rackCut');
}

/** Applies dark zones and cuts: the machines of a dark zone are not Ready; of a cut fleet, every fourth is silent. */
export function zoneAndSilence(fleet: SimulatedFleet, changed: Set<SimulatedMachine>): void {
  const { shown, nowMs } = fleet;
  const [isDark, isCut] = [isOn(fleet, 'zoneDark'), isOn(fleet, 'massUnknown')];
  const hasCutRack = hasCut(fleet);
  if (![isDark, isCut, hasCutRack, shown.isDark, shown.isCut, shown.hasCutRack].includes(true)) return;
  for (const [index, machine] of fleet.machines.entries()) {
    if (isInDarkZone(machine, isDark)) changed.add(darken(machine, nowMs));
    else if (!isDark && machine.isDark) changed.add(lighten(machine, nowMs));
    if (silence(fleet, machine, isCut && index % 4 === 1)) changed.add(machine);
  }
  Object.assign(shown, { isDark, isCut, hasCutRack });
}

/** Tells whether a rack or a single link is cut. */
function hasCut(fleet: SimulatedFleet): boolean {
  return isOn(fleet, 'rackCut') || linkCutSinceMs(fleet.nowMs) !== undefined;
}

/** Tells whether the silence of the machine changed. */
function silence(fleet: SimulatedFleet, machine: SimulatedMachine, isCut: boolean): boolean {
  const isSilent = isCut || isInCutRack(fleet, machine) || machine.silence !== undefined;
  if (isSilent === machine.isSilent) return false;
  Object.assign(machine, { isSilent, silentSinceMs: fleet.nowMs });
  return true;
}

function isInDarkZone({ zone, isReady, isControlPlane }: SimulatedMachine, isDark: boolean): boolean {
  return isDark && zone === 'a' && isReady && !isControlPlane;
}

function darken(machine: SimulatedMachine, nowMs: number): SimulatedMachine {
  machine.changedMs = nowMs;
  machine.isReady = false;
  machine.isDark = true;
  return machine;
}

/** Ends the darkness of a machine. An act in work keeps its machine down until the act ends. */
function lighten(machine: SimulatedMachine, nowMs: number): SimulatedMachine {
  machine.isDark = false;
  machine.isReady = machine.act === undefined;
  machine.changedMs = nowMs;
  return machine;
}

export function factsOf(machine: SimulatedMachine): MachineFacts {
  const {
    name,
    zone,
    rack,
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
    labels: rack === undefined ? {} : { [RACK]: rack },
    zone,
    pool,
    nodeUID: String(uid),
    nodeCreatedAt: new Date(createdMs),
    readiness: isSilent ? 'Unknown' : readiness,
    ...(isSilent ? { unknownSince: new Date(machine.silentSinceMs) } : {}),
    ...optional('faults', faultsOf(machine)),
    ...probesOf(machine),
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
    dimensions: { kubeletVersion: machine.version },
  };
}

function probesOf({ silence: probed, answers }: SimulatedMachine): Pick<MachineFacts, 'silence' | 'peers'> {
  return { ...optional('silence', probed), ...(answers.length > 0 ? { peers: answers } : {}) };
}

function faultsOf({ isReady, isSilent, silentSinceMs, brokenMs }: SimulatedMachine): Faults | undefined {
  if (isReady && !isSilent) return undefined;
  return new Map([['Ready', new Date(isSilent ? silentSinceMs : brokenMs)]]);
}
