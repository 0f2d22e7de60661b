/** Checks what must hold whenever an act begins, judged by the fleet as it really is and never by the ledger. */
import { RISKS } from '../api/enums.ts';
import type { GrantAsk } from '../api/grants.ts';
import { isStep, stepEntry } from '../api/steps/steps.ts';
import { takesNodeDown } from '../defender/ledger/entries.ts';
import {
  type Hazard,
  hazardAgeMs,
  isInCutRack,
  isLinkCut,
  type SimulatedFleet,
  type SimulatedMachine,
} from './fleet.ts';
import { PINNED } from './machines/pinned-pod.ts';
import { LIMITS, QUIET_HOURS, rebootLimits } from './policies.ts';

/**
 * The time within which a change may be unknown: facts reach the Defender one step later, and an act may begin in the step after its
 * decision.
 */
export const SIGHT_MS = 180_000;

export interface Begun {
  readonly fleet: SimulatedFleet;
  readonly machine: SimulatedMachine;
  readonly ask: GrantAsk;
  /** The times when the reboots that began were granted. */
  readonly reboots: readonly number[];
  /** The number of acts of risk Node or higher that were in work before. */
  readonly inWork: number;
  /** The time when the ledger was last deleted or restored. */
  readonly lostMs: number;
  /** The time when a recovery had to begin. */
  readonly recoversMs: number;
  /** The time when too many acts in a row had failed. */
  readonly breakerOpenMs: number;
  readonly grants: number;
  /** The number of disruptive acts that may be in work in the zone after a storm in it. */
  readonly stormAllowance: number;
  /** Whether it is clear that the version of the machine is bad. */
  readonly isUnderCause: boolean;
  /** Whether the version of the rule has healed no machine for long enough, and works on another one. */
  readonly isBeyondFirstWave: boolean;
}

const FORBIDDEN: readonly Hazard[] = ['stopped', 'alerting', 'apiErrors', 'clockWrong', 'massUnknown'];

/** Returns every promise that the act breaks. */
export function brokenPromises(begun: Begun): readonly string[] {
  return [
    ...hazardViolations(begun),
    ...askViolations(begun),
    ...machineViolations(begun),
    ...limitViolations(begun),
    ...broken([[begun.isBeyondFirstWave, 'a rule on more machines than its wave permits']]),
  ];
}

type Check = readonly (readonly [isBroken: boolean, what: string])[];

function broken(checks: Check): readonly string[] {
  return checks.flatMap(([isBroken, what]) => (isBroken ? [what] : []));
}

function hazardViolations({ fleet, machine, ask }: Begun): readonly string[] {
  const isLong = (hazard: Hazard): boolean => hazardAgeMs(fleet, hazard) > SIGHT_MS;
  if (ask.risk === 'None') return broken([[isLong('stopped'), 'an act while stopped']]);
  const forbidden = FORBIDDEN.map((hazard) => [isLong(hazard), `an act while ${hazard}`] as const);
  const isNode = ask.risk !== 'Pod';
  const cutMs = hazardAgeMs(fleet, 'viewCut');
  return broken([
    ...forbidden,
    [cutMs > (LIMITS.maxViewAgeSeconds + 60) * 1000, 'an act with a stale view'],
    [isNode && isLong('frozen'), 'an act in a freeze'],
    [isNode && isQuiet(fleet.nowMs), 'an act in a quiet window'],
    [machine.zone === 'a' && isLong('zoneDark'), 'an act in a dark zone'],
    [machine.zone === 'b' && isLong('zonalShift'), 'an act in a zone that is shifted'],
  ]);
}

/** Tells whether the time is in the quiet hours, except for the minutes in which their begin may not be noticed. */
function isQuiet(nowMs: number): boolean {
  return [nowMs, nowMs - SIGHT_MS].every((ms) => {
    const hour = new Date(ms).getUTCHours();
    return hour >= QUIET_HOURS.start && hour < QUIET_HOURS.end;
  });
}

function askViolations({ fleet, machine, ask, recoversMs, grants }: Begun): readonly string[] {
  const least = isStep(ask.action) ? stepEntry(ask.action).risk : 'None';
  return broken([
    [RISKS.indexOf(ask.risk) < RISKS.indexOf(least), 'an act below its risk'],
    [fleet.nowMs - +ask.factsAt > SIGHT_MS, 'an act by old facts'],
    [
      ask.holder.kind === 'RemedyOperationJob' && ask.holder.revision === undefined,
      'an act of an unknown revision',
    ],
    [
      ask.nodeUID !== String(machine.uid) && fleet.nowMs - machine.createdMs > SIGHT_MS,
      'an act on another Node',
    ],
    [fleet.nowMs - recoversMs < 300_000, 'an act while the ledger recovers'],
    [grants > 512, 'more grants than the ledger holds'],
    [ask.action === 'ReplaceMachine', 'an act without its approval'],
  ]);
}

function machineViolations(begun: Begun): readonly string[] {
  const { fleet, machine, ask } = begun;
  if (ask.risk === 'None') return [];
  const isSettled = isOld(machine, fleet);
  const others = fleet.machines.filter((each) => each.isControlPlane && each !== machine);
  return broken([
    ...repairChecks(begun),
    [isCut(begun), 'a repair of a machine in a rack that is cut'],
    [isReachedByPeers(begun), 'a repair of a machine that its peers reach'],
    [machine.isHeld && isSettled, 'an act on a held machine'],
    [machine.isForeign && isSettled, 'an act on a machine of another tool'],
    [isPinned(begun) && isSettled, 'an act whose Pods fit nowhere'],
    [machine.hasBlockingPod && isSettled, 'an act under a blocking Pod'],
    [machine.isControlPlane && others.some(isDown), 'an act that costs the quorum'],
    [machine.act !== undefined, 'two acts on one machine'],
  ]);
}

function isPinned({ machine, ask }: Begun): boolean {
  return machine.name === PINNED && machine.isReady && !machine.isSilent && takesNodeDown(ask.risk);
}

function repairChecks({ fleet, machine, ask }: Begun): Check {
  if (ask.holder.kind !== 'RemedyOperationJob') return [];
  const [last] = machine.repairs;
  const sinceMs = last ? fleet.nowMs - +last.at : Number.POSITIVE_INFINITY;
  const ageMs = fleet.nowMs - machine.createdMs;
  return [
    [ageMs > SIGHT_MS && ageMs < (LIMITS.minNodeAgeSeconds - 120) * 1000, 'a repair of a young node'],
    [sinceMs < (LIMITS.minIntervalSeconds - 120) * 1000, 'a repair too soon after the last'],
  ];
}

/** Tells whether a repair takes down a machine that is Ready, and only cut off. */
function isCut({ fleet, machine, ask }: Begun): boolean {
  return takesDown(ask, machine) && isInCutRack(fleet, machine) && hazardAgeMs(fleet, 'rackCut') > SIGHT_MS;
}

function isReachedByPeers({ fleet, machine, ask }: Begun): boolean {
  const silentMs = fleet.nowMs - machine.silentSinceMs;
  return takesDown(ask, machine) && isLinkCut(fleet, machine) && silentMs > SIGHT_MS;
}

function takesDown({ holder, risk }: GrantAsk, { isReady }: SimulatedMachine): boolean {
  return isReady && holder.kind === 'RemedyOperationJob' && risk !== 'Pod';
}

function isDown({ isReady, act }: SimulatedMachine): boolean {
  return !isReady || act !== undefined;
}

/** Tells whether the last change of the machine is old enough to be known: a newer one may not be visible yet. */
function isOld(machine: SimulatedMachine, { nowMs }: SimulatedFleet): boolean {
  return nowMs - machine.changedMs > SIGHT_MS;
}

function limitViolations(begun: Begun): readonly string[] {
  const { fleet, ask, inWork, breakerOpenMs, lostMs } = begun;
  if (ask.risk === 'None' || ask.risk === 'Pod') return [];
  const limit = Math.max(1, Math.floor((fleet.machines.length * LIMITS.clusterPercent) / 100));
  const openMs = fleet.nowMs - breakerOpenMs;
  return broken([
    [inWork + 1 > limit, `${inWork + 1} machines in work, and ${limit} allowed`],
    [exceedsRate(begun), 'more reboots in an hour than allowed'],
    [
      openMs > 0 && openMs < LIMITS.cooldownSeconds * 1000 && lostMs < breakerOpenMs,
      'an act under an open breaker',
    ],
    [begun.isUnderCause, 'an act on a machine of a bad version'],
    [exceedsStorm(begun), 'more acts in a zone than it may begin after a storm'],
    [isLastOfPool(begun), 'an act on the last machine of its pool that serves'],
  ]);
}

/** Tells whether the reboots exceed their rate. Counters and breakers begin again when the ledger is deleted or restored. */
function exceedsRate({ fleet, ask, reboots, lostMs }: Begun): boolean {
  if (ask.action !== 'Reboot' || fleet.nowMs - lostMs < 3_600_000) return false;
  return (
    reboots.filter((at) => fleet.nowMs - at < 3_600_000).length > rebootLimits(fleet.machines.length).anHour
  );
}

function exceedsStorm({ fleet, machine, stormAllowance }: Begun): boolean {
  if (stormAllowance === Number.POSITIVE_INFINITY) return false;
  const inWork = [...fleet.acting].filter(
    ({ zone, act }) => zone === machine.zone && act?.ask.risk !== 'None',
  );
  return inWork.length + 1 > stormAllowance;
}

function isLastOfPool(begun: Begun): boolean {
  const { fleet, machine } = begun;
  const serving = fleet.machines.filter(
    ({ pool, isReady, act }) => pool === machine.pool && isReady && !(act && takesNodeDown(act.ask.risk)),
  );
  return serving.length <= 1 && isServing(machine) && isLongAlone(begun);
}

/** Tells whether the others of the pool went out of service long enough ago for every observer to know. */
function isLongAlone({ fleet, machine }: Begun): boolean {
  return fleet.machines.every((each) => each.pool !== machine.pool || isOld(each, fleet));
}

function isServing({ isReady, isCordoned, isForeign, isSilent }: SimulatedMachine): boolean {
  return isReady && !isCordoned && !isForeign && !isSilent;
}
