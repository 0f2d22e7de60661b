/**
 * Judges a history of rollouts by what really happened: each start by the machines, grants and edits of that moment, and the end by
 * what is left. What the controllers count is not read. Pure.
 */

import type { DesiredSet, HostTruth, RolloutEvent, RolloutViolation, StartedUpdate } from '../history.ts';
import { choiceViolations } from './choice-rules.ts';
import { gateViolations } from './gate-rule.ts';
import {
  type BatchMember,
  GRACE_MS,
  type HostState,
  type JudgedFleet,
  type JudgedMachine,
  type JudgedSet,
  machineOf,
  membersOf,
  NO_BATCH,
  noteHealth,
  setOf,
} from './judged-fleet.ts';
import { startViolations } from './start-rules.ts';

/** Reasons with which a rollout may end when nothing disturbs it any more. */
const ENDS: ReadonlySet<string> = new Set([
  'AllDone',
  'RolledBack',
  'FailureBudgetSpent',
  'BatchUnproven',
  'ComponentNotFound',
  'HeldByPartition',
]);

/** Ends after which a machine keeps what was begun on it until a person acts. */
const FOR_PEOPLE: ReadonlySet<string> = new Set(['FailureBudgetSpent', 'BatchUnproven']);

/** Others may wait for a machine whose update never ends, until a person acts. */
const WAITS_FOR_HUNG: ReadonlySet<string> = new Set(['TooManyUnavailable', 'MachineBusy', 'SpreadLimit']);

export function judgeHistory(history: readonly RolloutEvent[]): readonly RolloutViolation[] {
  const fleet: JudgedFleet = { sets: new Map(), machines: new Map(), clocks: [] };
  return history.flatMap((event) => {
    const found = judgeEvent(fleet, event);
    const machine = 'machine' in event ? event.machine : '';
    return found.map((what) => ({ atMs: event.atMs, machine, what }));
  });
}

/** A start is judged by what happened before it. */
function judgeEvent(fleet: JudgedFleet, event: RolloutEvent): readonly string[] {
  if (event.what === 'Start') return judgeStart(fleet, event, event.atMs);
  if (event.what === 'Quiet') return quietViolations(fleet, event);
  if (event.what === 'Completed') {
    setOf(fleet, event.set).proven.add(event.revision);
    return completionViolations(fleet, event);
  }
  note(fleet, event);
  return [];
}

function note(
  fleet: JudgedFleet,
  event: Exclude<RolloutEvent, { what: 'Start' | 'Quiet' | 'Completed' }>,
): void {
  if (event.what === 'Set') noteSet(setOf(fleet, event.set), event, event.atMs);
  else if (event.what === 'Machine') noteMachine(fleet, event);
  else if (event.what === 'Host') noteHost(fleet, event, event.atMs);
  else if (event.what === 'Grant') machineOf(fleet, event.machine).grants.set(event.id, event);
  else fleet.clocks.push(event);
}

function noteSet(set: JudgedSet, desired: DesiredSet, atMs: number): void {
  const before = set.desired.at(-1);
  set.desired.push({ ...desired, atMs });
  if (before?.paused !== desired.paused) set.pauses.push({ atMs, paused: desired.paused });
  if (before && isSameRollout(before, desired)) return;
  if (before?.revision !== desired.revision) set.furthest = NO_BATCH;
  set.beganMs = atMs;
  set.started.clear();
  set.batches.clear();
}

/** Another revision, or another retry token, is another rollout. */
function isSameRollout(a: DesiredSet, b: DesiredSet): boolean {
  return a.revision === b.revision && a.retryToken === b.retryToken && a.exists === b.exists;
}

function noteMachine(fleet: JudgedFleet, event: Extract<RolloutEvent, { what: 'Machine' }>): void {
  const known = fleet.machines.get(event.machine);
  if (known && known.truth.uid !== event.uid) fleet.machines.delete(event.machine);
  const machine = machineOf(fleet, event.machine);
  if (machine.truth.serves !== event.serves) machine.servesChangedMs = event.atMs;
  if (machine.truth.isSilent !== event.isSilent) machine.silentChangedMs = event.atMs;
  if (machine.truth.isHeld !== event.isHeld) machine.heldChangedMs = event.atMs;
  if (machine.truth.sets.join() !== event.sets.join()) machine.joinedMs = event.atMs;
  machine.truth = event;
  for (const host of machine.hosts.values()) noteHealth(machine, host, event.atMs);
}

/** An update is over once the host is at its end, and serves. */
function noteHost(fleet: JudgedFleet, truth: HostTruth, atMs: number): void {
  const machine = machineOf(fleet, truth.machine);
  const before = machine.hosts.get(truth.set);
  const isRepeated = before?.truth.state === truth.state && before.truth.revision === truth.revision;
  const host: HostState = isRepeated ? before : { truth, sinceMs: atMs, isOut: before?.isOut === true };
  if (before && isLateCommit(fleet, before, truth, atMs)) host.recoveredMs = atMs;
  machine.hosts.set(truth.set, { ...host, truth });
  for (const each of machine.hosts.values()) noteHealth(machine, each, atMs);
}

function isLateCommit(fleet: JudgedFleet, before: HostState, truth: HostTruth, atMs: number): boolean {
  const { timeoutMs = 0 } = setOf(fleet, truth.set).desired.at(-1) ?? {};
  const isCommit = before.truth.state === 'Working' && truth.state === 'Committed';
  return isCommit && before.truth.revision === truth.revision && atMs - before.sinceMs > timeoutMs;
}

function judgeStart(fleet: JudgedFleet, start: StartedUpdate, atMs: number): readonly string[] {
  const set = setOf(fleet, start.set);
  const machine = machineOf(fleet, start.machine);
  const found = [
    ...startViolations(fleet, { set, machine, start, atMs }),
    ...gateViolations(fleet, { set, machine, start, atMs }),
    ...choiceViolations(fleet, { set, machine, start, atMs }),
  ];
  noteStart(set, machine, start, atMs);
  return found;
}

function noteStart(set: JudgedSet, machine: JudgedMachine, start: StartedUpdate, atMs: number): void {
  const { revision, kind } = start;
  if (kind === 'None') return;
  const { serves } = machine.truth;
  const truth: HostTruth = { machine: start.machine, set: start.set, revision, state: 'Working' };
  const before = machine.hosts.get(start.set);
  // One that failed is out of service for its set already.
  const isOut = (serves && before?.truth.state !== 'GaveUp') || before?.isOut === true;
  machine.hosts.set(start.set, { truth, sinceMs: atMs, isOut });
  if (kind === 'Update') noteBatch(set, machine, { ...start, serves, atMs });
}

type NotedStart = StartedUpdate & { readonly serves: boolean; readonly atMs: number };

/** A write of the rollout before may arrive just after an edit. */
function noteBatch(set: JudgedSet, machine: JudgedMachine, start: NotedStart): void {
  const { revision, batch, atMs } = start;
  const isCurrent = revision === set.desired.at(-1)?.revision;
  const { uid } = machine.truth;
  const isOfRollout = isCurrent || atMs - set.beganMs > GRACE_MS;
  if (isOfRollout) set.started.set(uid, [...(set.started.get(uid) ?? []), revision]);
  if (!isCurrent) set.furthest = NO_BATCH;
  else if (batch !== undefined) addToBatch(set, machine, { ...start, batch });
}

function addToBatch(
  set: JudgedSet,
  machine: JudgedMachine,
  { batch, serves, ...start }: NotedStart & { readonly batch: number },
): void {
  const members = set.batches.get(batch) ?? new Map<string, BatchMember>();
  set.batches.set(batch, members.set(start.machine, { served: serves, isLate: batch < set.furthest }));
  set.furthest = Math.max(set.furthest, batch);
  machine.batchOf.set(start.set, `${start.revision} ${batch}`);
}

/** Completed means that every machine that takes part is at the revision, or gave it up. */
function completionViolations(
  fleet: JudgedFleet,
  { set, revision, atMs }: Extract<RolloutEvent, { what: 'Completed' }>,
): readonly string[] {
  const { timeoutMs = 0 } = setOf(fleet, set).desired.at(-1) ?? {};
  return membersOf(fleet, set, atMs).flatMap(({ truth: { machine, isHeld }, heldChangedMs, hosts }) => {
    const host = hosts.get(set);
    const takesPart = !isHeld && atMs - heldChangedMs > GRACE_MS;
    // A machine that joins gets its first revision outside of the batches.
    if (!takesPart || !host) return [];
    if (host.truth.revision === revision && !isInTime(host, atMs - timeoutMs)) return [];
    return `${revision} completed, and ${machine} is not at it`;
  });
}

/** Still at work, within the time that an update has. */
function isInTime({ truth, sinceMs }: HostState, beganBeforeMs: number): boolean {
  return truth.state === 'Working' && sinceMs >= beganBeforeMs;
}

/**
 * Tells whether a rollout that waits for a person left the update unfinished: the host was dead or off while it had the grant, and asks for
 * another one that this rollout never gives.
 */
function isLeftOver({ state }: HostTruth, reason: string | undefined): boolean {
  return state === 'Working' && reason !== undefined && FOR_PEOPLE.has(reason);
}

function quietViolations(
  fleet: JudgedFleet,
  { waits, hung, cordons, grants }: Extract<RolloutEvent, { what: 'Quiet' }>,
): readonly string[] {
  // It may be another set that failed on a machine, and keeps it out of service for this one.
  const hasFailed = (set: string): boolean =>
    [...fleet.machines.values()].some(({ truth: { sets }, hosts }) =>
      [...hosts].some(([own, { truth }]) => {
        if (own === set) return truth.state === 'GaveUp';
        return sets.includes(set) && (truth.state === 'GaveUp' || isLeftOver(truth, waits[own]));
      }),
    );
  return [
    ...Object.entries(waits)
      .filter(([, reason]) => !ENDS.has(reason) && !(hung.length > 0 && WAITS_FOR_HUNG.has(reason)))
      .filter(([set, reason]) => !(reason === 'TooManyUnavailable' && hasFailed(set)))
      .map(([set, reason]) => `the rollout of ${set} does not end: ${reason}`),
    ...cordons.map((node) => `our cordon is left on ${node}`),
    ...grants.map((machine) => `our grant is left on ${machine}`),
  ];
}
