/** Checks that no machine of a batch starts before the batch before it is at its end, healthy, and has soaked. Pure. */
import {
  type HostState,
  isWell,
  type JudgedFleet,
  type JudgedMachine,
  KNOWN_AFTER_MS,
  OBSERVED_AFTER_MS,
  wasRecently,
} from './judged-fleet.ts';
import type { JudgedStart } from './start-rules.ts';

/** The tolerance of a soak: events within some steps of the simulator count as simultaneous. */
const STEPS_MS = 15_000;

interface Gate extends JudgedStart {
  readonly batch: number;
  readonly skewMs: number;
}

export function gateViolations(fleet: JudgedFleet, judged: JudgedStart): readonly string[] {
  const { set, start } = judged;
  const { batch } = start;
  if (batch === undefined || !isForward(judged)) return [];
  const before = [...set.batches.keys()].filter((index) => index < batch).toSorted((a, b) => b - a)[0];
  const approval = approvalViolations(judged, batch);
  if (set.batches.has(batch) || before === undefined) return approval;
  const gate = { ...judged, batch, skewMs: skewSince(fleet, set.beganMs) };
  return [...approval, ...batchViolations(fleet, gate, before)];
}

function approvalViolations({ set, start }: JudgedStart, batch: number): readonly string[] {
  const isApproved = wasRecently(set, ({ maxBatch }) => batch <= maxBatch) || set.proven.has(start.revision);
  return isApproved ? [] : [`batch ${batch} begins without an approval`];
}

/** Tells whether an update begins a new batch for the machine. A machine that tries again is in the batch that it was in. */
function isForward({ set, machine, start: { set: name, revision, batch, kind } }: JudgedStart): boolean {
  const isRetry = machine.batchOf.get(name) === `${revision} ${batch}`;
  return kind === 'Update' && revision === set.desired.at(-1)?.revision && !isRetry;
}

/** Returns by how much clocks differed since then. */
function skewSince({ clocks }: JudgedFleet, sinceMs: number): number {
  const first = clocks.findLastIndex(({ atMs }) => atMs <= sinceMs);
  const skews = clocks.slice(Math.max(0, first)).map(({ skewMs }) => skewMs);
  return Math.max(0, ...skews) - Math.min(0, ...skews);
}

function batchViolations(fleet: JudgedFleet, gate: Gate, before: number): readonly string[] {
  const { set, start, batch } = gate;
  const members = [...(set.batches.get(before) ?? [])].flatMap(([name, { served, isLate }]) => {
    const machine = fleet.machines.get(name);
    const host = machine?.hosts.get(start.set);
    return machine && host && served && !isLate && takesPart(machine, gate) ? [{ name, machine, host }] : [];
  });
  const { maxFailed = 0 } = set.desired.at(-1) ?? {};
  const failed = members.filter(({ machine, host }) => hasFailed(machine, host, gate));
  const cameBack = members.filter((each) => !failed.includes(each) && each.host.recoveredMs !== undefined);
  // A batch that has soaked waits for no failure within the budget, and so for none that came back.
  const isWithinBudget = failed.length + cameBack.length <= maxFailed;
  const open = members.filter(
    (each) => !failed.includes(each) && !(isWithinBudget && cameBack.includes(each)),
  );
  return [
    ...(failed.length > maxFailed
      ? [`batch ${batch} begins, and ${failed.length} machines of batch ${before} failed`]
      : []),
    ...open.flatMap(({ name, host }) => openViolation(name, host, gate)),
  ];
}

/** Tells whether the gate counts the machine: a person who holds a machine, or takes it away, delays no other. */
function takesPart({ truth, heldChangedMs }: JudgedMachine, { start, atMs }: Gate): boolean {
  return (
    truth.exists &&
    truth.sets.includes(start.set) &&
    !truth.isHeld &&
    atMs - heldChangedMs > OBSERVED_AFTER_MS
  );
}

function hasFailed(machine: JudgedMachine, host: HostState, { set, atMs }: Gate): boolean {
  const { state } = host.truth;
  const { timeoutMs = 0 } = set.desired.at(-1) ?? {};
  if (state === 'GaveUp') return true;
  if (state === 'Working') return atMs - host.sinceMs > timeoutMs;
  return isWell(machine, host) ? hasJustRecovered(host, atMs) : isUnwellForLong(host, atMs);
}

function hasJustRecovered({ recoveredMs = Number.NEGATIVE_INFINITY }: HostState, atMs: number): boolean {
  return atMs - recoveredMs <= KNOWN_AFTER_MS;
}

function isUnwellForLong({ unwellMs }: HostState, atMs: number): boolean {
  return atMs - (unwellMs ?? atMs) >= OBSERVED_AFTER_MS;
}

function openViolation(name: string, host: HostState, gate: Gate): readonly string[] {
  const { set, start, batch, skewMs, atMs } = gate;
  const { state, revision } = host.truth;
  if (revision !== start.revision) return [];
  if (state !== 'Committed') return [`batch ${batch} begins while ${name} is in work`];
  const { soakMs = 0 } = set.desired.at(-1) ?? {};
  const needed = set.proven.has(start.revision) ? 0 : soakMs - skewMs;
  const soaked = runningMs(gate, host.wellMs ?? atMs);
  if (soaked + STEPS_MS >= needed) return [];
  return [
    `batch ${batch} begins ${soaked / 1000} s after ${name} was well, and ${needed / 1000} s are asked for`,
  ];
}

/** Returns the time since then without the time in which the set was paused. */
function runningMs({ set: { pauses }, atMs }: Gate, sinceMs: number): number {
  let running = 0;
  let from = sinceMs;
  let isPaused = pauses.findLast((each) => each.atMs <= sinceMs)?.paused === true;
  for (const each of pauses.filter((pause) => pause.atMs > sinceMs)) {
    if (!isPaused) running += each.atMs - from;
    from = each.atMs;
    isPaused = each.paused;
  }
  return isPaused ? running : running + atMs - from;
}
