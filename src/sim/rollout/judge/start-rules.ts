/** Checks what must hold whenever an update of a machine begins. Pure. */
import type { StartedUpdate } from '../history.ts';
import {
  GRACE_MS,
  type JudgedFleet,
  type JudgedMachine,
  type JudgedSet,
  KNOWN_AFTER_MS,
  membersOf,
  OBSERVED_AFTER_MS,
  wasRecently,
} from './judged-fleet.ts';

export interface JudgedStart {
  readonly set: JudgedSet;
  readonly machine: JudgedMachine;
  readonly start: StartedUpdate;
  readonly atMs: number;
}

export function startViolations(fleet: JudgedFleet, judged: JudgedStart): readonly string[] {
  return [
    ...grantViolations(judged),
    ...(judged.start.kind === 'None' ? [] : disruptionViolations(fleet, judged)),
  ];
}

function grantViolations({ machine, start, atMs }: JudgedStart): readonly string[] {
  const grant = machine.grants.get(start.grant ?? '');
  const isLive = grant?.isOpen === true && grant.set === start.set && grant.untilMs > atMs;
  return isLive ? [] : ['an entry without a grant that is live'];
}

function disruptionViolations(fleet: JudgedFleet, judged: JudgedStart): readonly string[] {
  const { set, machine, start, atMs } = judged;
  prune(set, atMs);
  const { revision, kind } = start;
  const isKnown = wasRecently(set, (each) => each.revision === revision) || set.proven.has(revision);
  const checks: readonly (readonly [isBroken: boolean, what: string])[] = [
    [!wasRecently(set, ({ paused }) => !paused), 'a start while the set is paused'],
    [!wasRecently(set, ({ exists }) => exists), 'a start of a set that was deleted'],
    [!isMember(judged), 'a start on a machine that the set does not select'],
    [isHeldFor(machine, atMs), 'a start on a machine that is held'],
    [kind === 'Update' && !isKnown, `a start on ${revision}, which git does not ask for`],
    [kind === 'Update' && isRepeated(judged), `a second start on ${revision}`],
    [isOverBudget(fleet, judged), 'a start after the failure budget was spent'],
  ];
  return [
    ...checks.flatMap(([isBroken, what]) => (isBroken ? [what] : [])),
    ...availabilityViolations(fleet, judged),
  ];
}

function prune({ desired }: JudgedSet, atMs: number): void {
  while (desired.length > 1 && (desired[1]?.atMs ?? atMs) <= atMs - GRACE_MS) desired.shift();
}

function isMember({ machine: { truth, joinedMs }, start, atMs }: JudgedStart): boolean {
  return truth.exists && (truth.sets.includes(start.set) || atMs - joinedMs <= GRACE_MS);
}

function isHeldFor({ truth, heldChangedMs }: JudgedMachine, atMs: number): boolean {
  return truth.isHeld && atMs - heldChangedMs > GRACE_MS;
}

/**
 * Tells whether a start repeats one: the revision that git asks for may start once in a rollout; one that is rolled back to, not twice in a
 * row.
 */
function isRepeated({ set, machine, start: { revision } }: JudgedStart): boolean {
  const before = set.started.get(machine.truth.uid) ?? [];
  return revision === set.desired.at(-1)?.revision ? before.includes(revision) : before.at(-1) === revision;
}

/**
 * Tells whether more machines failed than the set permits. Counts only those that gave up in this rollout, and long enough ago to be known.
 * A rollback is always permitted.
 */
function isOverBudget(fleet: JudgedFleet, { set, start, atMs }: JudgedStart): boolean {
  const { revision, maxFailed = 0 } = set.desired.at(-1) ?? {};
  if (start.revision !== revision || start.kind === 'Restart') return false;
  const failed = membersOf(fleet, start.set, atMs).filter(({ hosts }) => {
    const host = hosts.get(start.set);
    const hasFailed = host?.truth.state === 'GaveUp' && host.truth.revision === revision;
    return hasFailed && host.sinceMs >= set.beganMs && atMs - host.sinceMs > KNOWN_AFTER_MS;
  });
  return failed.length > maxFailed;
}

function availabilityViolations(fleet: JudgedFleet, judged: JudgedStart): readonly string[] {
  const { set } = judged;
  if (!isInService(judged)) return [];
  const out = takenOut(fleet, judged);
  const most = Math.max(...set.desired.map(({ maxUnavailable }) => maxUnavailable));
  return out.length + 1 > most ? [`${out.length + 1} machines out of service, and ${most} allowed`] : [];
}

/** Returns the other machines that the set took out of service, and that are not back. */
export function takenOut(
  fleet: JudgedFleet,
  { machine, start, atMs }: JudgedStart,
): readonly JudgedMachine[] {
  return [...fleet.machines.values()].filter(
    (each) =>
      each !== machine &&
      each.truth.exists &&
      each.truth.sets.includes(start.set) &&
      each.hosts.get(start.set)?.isOut === true &&
      !isGivenUp(each, start.set) &&
      !isJustSilent(each, start.set, atMs),
  );
}

/**
 * Tells whether an update was given up: the machine serves, and the grant of what was begun on it has ended, so that its host waits for
 * another one.
 */
function isGivenUp({ truth, grants }: JudgedMachine, set: string): boolean {
  const own = [...grants.values()].filter((grant) => grant.set === set);
  return truth.serves && own.length > 0 && own.every(({ isOpen }) => !isOpen);
}

/**
 * Tells whether only the silence of its agent keeps the machine out of service, and not every process knows of it yet: its update has ended,
 * and its Node serves again.
 */
function isJustSilent({ truth, silentChangedMs, hosts }: JudgedMachine, set: string, atMs: number): boolean {
  const isOver = hosts.get(set)?.truth.state === 'Committed';
  return truth.nodeServes && isOver && atMs - silentChangedMs <= KNOWN_AFTER_MS;
}

/** Tells whether the machine is known to be in service. One that was in service just before may still be known as one that was not. */
export function isInService({ machine, start, atMs }: JudgedStart): boolean {
  const { truth, servesChangedMs, hosts } = machine;
  const host = hosts.get(start.set);
  if (!truth.serves || atMs - servesChangedMs <= OBSERVED_AFTER_MS) return false;
  if (host === undefined) return true;
  // At its revision, but its Node reports a fault.
  const isFaulty = host.truth.state === 'Committed' && truth.isFaulty;
  return !host.isOut && host.truth.state !== 'GaveUp' && !isFaulty;
}
