/** Waits until the fleet is as the newest commit declares: for a bounded time, after which the differences are returned. */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { Fault } from '../../../sync/fuzz/acts.ts';
import { type Content, withBeat } from '../../../sync/fuzz/content.ts';
import { acknowledgeHold, contentProblems, statusProblems } from './check.ts';
import type { ActiveFault } from './faults.ts';
import type { FuzzFleet } from './fuzz-fleet.ts';
import { deleteConflicting, removeFinalizers } from './hands.ts';
import { pipelineHead, readBeat } from './observe.ts';
import { NEIGHBOR, TARGET } from './setup.ts';

/** The promise: after a revert, everything is as in git within this time. On a machine that does nothing else. */
const LIMIT_MS = 30_000;
/** A process that was killed or frozen has to lose its Leases first. */
const LEASE_MS = 20_000;
const POLL_MS = 200;

export interface RunState {
  readonly fleet: FuzzFleet;
  content: Content;
  /** Of the newest commit, in the unit that no edit touches. Undefined when it does not name the cluster. */
  beat: string | undefined;
  disruptedMs: number;
  readonly faults: Map<Fault, ActiveFault>;
  readonly foreign: KubeObject[];
  readonly verdicts: string[];
}

/** Numbers the commits. Never repeated, also not by the next sequence. */
let commits = 0;

export function nextCommitNumber(): number {
  commits += 1;
  return commits;
}

/** The calm unit of the newest commit arrives, and so does a commit of the neighbor. */
export async function expectBeats(state: RunState): Promise<readonly string[]> {
  const { fleet, beat } = state;
  const value = String(nextCommitNumber());
  fleet.commit(NEIGHBOR, `commit ${value}`, withBeat({}, value));
  return within(state, async () => {
    const { commit, verdict = '' } = await pipelineHead(fleet, TARGET);
    const isRefused = commit === fleet.head(TARGET) && ['Refused', 'RenderFailed'].includes(verdict);
    const isExpected = beat !== undefined && !isRefused && !isCutOff(state);
    const target = isExpected ? await readBeat(fleet, TARGET) : beat;
    const neighbor = await readBeat(fleet, NEIGHBOR);
    return [
      ...(target === beat ? [] : [`unit calm of the target: expected ${beat}, got ${target}`]),
      ...(neighbor === value ? [] : [`the neighbor: expected commit ${value}, got ${neighbor}`]),
    ];
  });
}

/** After the revert: first what nothing may hold up, then, once people have done their part, everything. */
export async function settle(state: RunState): Promise<readonly string[]> {
  const { fleet } = state;
  const late = await expectBeats(state);
  if (late.length > 0) return [...late, ...(await statusProblems(fleet))];
  await repair(state, () => true);
  return within(state, async () => {
    await removeFinalizers(fleet);
    await deleteConflicting(fleet);
    await acknowledgeHold(fleet);
    const status = await statusProblems(fleet);
    return status.length > 0 ? status : contentProblems(fleet, state.foreign);
  });
}

export async function within(
  state: RunState,
  find: () => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const sinceDisruption = performance.now() - state.disruptedMs;
  return noProblems(find, LIMIT_MS * loadPerCore() + Math.max(0, LEASE_MS - sinceDisruption));
}

/** At least 1: other tests and builds that run at the same time slow this one down. */
function loadPerCore(): number {
  const [load = 1] = loadavg();
  return Math.max(1, load / availableParallelism());
}

function isCutOff({ faults }: RunState): boolean {
  return [...faults.values()].some((fault) => fault.isCutOff);
}

/** What was out of reach is retried with a delay, as after the end of a process. */
export async function repair(state: RunState, shouldRepair: (fault: ActiveFault) => boolean): Promise<void> {
  // The other repairs need a server that answers.
  const inOrder = [...state.faults].toSorted(([, a], [, b]) => Number(b.isCutOff) - Number(a.isCutOff));
  for (const [name, fault] of inOrder) {
    if (!shouldRepair(fault)) continue;
    await fault.repair();
    state.faults.delete(name);
    state.disruptedMs = performance.now();
  }
}

/** Polls until there are no problems. Returns those that are left when the time is over. */
export async function noProblems(
  find: () => Promise<readonly string[]>,
  limitMs: number,
): Promise<readonly string[]> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    const problems = await find();
    if (problems.length === 0 || performance.now() > deadline) return problems;
    await pause(POLL_MS);
  }
}
