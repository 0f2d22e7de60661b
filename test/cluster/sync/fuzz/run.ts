/** Carries out a sequence of acts, reverts to the good commit, and returns what is not as that commit declares it. */
import { availableParallelism, loadavg } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import type { Act, ByHand } from '../../../sync/fuzz/acts.ts';
import { applyEdits, type Content, GOOD, withBeat } from '../../../sync/fuzz/content.ts';
import { acknowledgeHold, contentProblems, statusProblems } from './check.ts';
import type { FuzzFleet } from './fuzz-fleet.ts';
import { actByHand, removeFinalizers } from './hands.ts';
import { leaseHolder, pipelineHead, readBeat } from './observe.ts';
import { NEIGHBOR, TARGET } from './setup.ts';

/** The promise: after a revert, everything is as in git within this time. On a machine that does nothing else. */
const LIMIT_MS = 30_000;
/** A process that was killed or frozen has to lose its Leases first. */
const LEASE_MS = 20_000;
const POLL_MS = 200;

export interface SequenceResult {
  readonly problems: readonly string[];
  readonly seconds: number;
  /** From the revert at the end until everything was as in git. */
  readonly revertSeconds: number;
  /** Verdicts on the commits that the sequence waited for. */
  readonly verdicts: readonly string[];
}

interface RunState {
  readonly fleet: FuzzFleet;
  content: Content;
  /** Of the newest commit, in the unit that no edit touches. */
  beat: string;
  disruptedMs: number;
  readonly foreign: KubeObject[];
  readonly verdicts: string[];
}

/** Two processes start, on a busy machine. */
const START_MS = 300_000;

/** An empty fleet that has reached its first commit: a sequence fails for its own acts. */
export async function startOver(fleet: FuzzFleet): Promise<void> {
  await fleet.reset();
  const problems = await noProblems(() => statusProblems(fleet), START_MS);
  if (problems.length > 0) throw new Error(`the first commit was not applied: ${problems.join('; ')}`);
}

/** Never repeated, also not by the next sequence. */
let commits = 0;

export async function runSequence(fleet: FuzzFleet, acts: readonly Act[]): Promise<SequenceResult> {
  const startMs = performance.now();
  const state: RunState = {
    fleet,
    content: GOOD,
    beat: 'good',
    disruptedMs: Number.NEGATIVE_INFINITY,
    foreign: [],
    verdicts: [],
  };
  const problems: string[] = [];
  for (const act of acts) problems.push(...(await carryOut(state, act)));
  const revertMs = performance.now();
  problems.push(...(await revertAndCheck(state)));
  const endMs = performance.now();
  return {
    problems,
    seconds: (endMs - startMs) / 1000,
    revertSeconds: (endMs - revertMs) / 1000,
    verdicts: state.verdicts,
  };
}

type ActOf<K extends Act['act']> = Extract<Act, { act: K }>;
type Problems = readonly string[] | undefined;

const ACTS: { readonly [K in Act['act']]: (state: RunState, act: ActOf<K>) => Promise<Problems> } = {
  async commit(state, { edits, pauseMs }) {
    commits += 1;
    state.beat = String(commits);
    state.content = withBeat(applyEdits(state.content, edits), state.beat);
    const commit = state.fleet.commit(TARGET, `commit ${state.beat}`, state.content);
    return pauseMs === undefined ? undefined : observed(state, commit, pauseMs);
  },
  async revert(state) {
    revert(state);
    return undefined;
  },
  hand: byHand,
  foreign: byHand,
  process: disrupt,
  'expect-beat': (state) => expectBeats(state),
  async pause(_, { milliseconds }) {
    await pause(milliseconds);
    return undefined;
  },
};

async function carryOut(state: RunState, act: Act): Promise<readonly string[]> {
  return (await (ACTS[act.act] as (state: RunState, act: Act) => Promise<Problems>)(state, act)) ?? [];
}

async function observed(state: RunState, commit: string, pauseMs: number): Promise<Problems> {
  const problems = await within(state, async () => {
    const head = await pipelineHead(state.fleet, TARGET);
    return head.commit === commit ? [] : [`head of the Pipeline: expected ${commit}, got ${head.commit}`];
  });
  state.verdicts.push((await pipelineHead(state.fleet, TARGET)).verdict ?? '');
  await pause(pauseMs);
  return problems;
}

function revert(state: RunState): void {
  state.content = GOOD;
  state.beat = 'good';
  state.fleet.commit(TARGET, 'Revert to the good commit', GOOD);
}

async function byHand(state: RunState, act: ByHand): Promise<Problems> {
  const created = await actByHand(state.fleet, act);
  if (created) state.foreign.push(created);
  return undefined;
}

async function disrupt(state: RunState, { which, what }: ActOf<'process'>): Promise<Problems> {
  const { processes } = state.fleet;
  const holder = await leaseHolder(state.fleet);
  const identity = processes.identities().find((each) => (each === holder) === (which === 'holder'));
  if (identity === undefined) return undefined;
  if (what !== 'stop') state.disruptedMs = performance.now();
  if (what === 'freeze') processes.freeze(identity);
  else await processes.end(identity, what === 'kill' ? 'SIGKILL' : 'SIGTERM');
  return undefined;
}

/** The calm unit of the newest commit arrives, and so does a commit of the neighbor. */
async function expectBeats(state: RunState): Promise<readonly string[]> {
  const { fleet, beat } = state;
  commits += 1;
  const value = String(commits);
  fleet.commit(NEIGHBOR, `commit ${value}`, withBeat({}, value));
  return within(state, async () => {
    const { verdict = '' } = await pipelineHead(fleet, TARGET);
    const isRefused = ['Refused', 'RenderFailed'].includes(verdict);
    const [target, neighbor] = await Promise.all([readBeat(fleet, TARGET), readBeat(fleet, NEIGHBOR)]);
    return [
      ...(isRefused || target === beat ? [] : [`unit calm of the target: expected ${beat}, got ${target}`]),
      ...(neighbor === value ? [] : [`the neighbor: expected commit ${value}, got ${neighbor}`]),
    ];
  });
}

async function revertAndCheck(state: RunState): Promise<readonly string[]> {
  const { fleet } = state;
  fleet.processes.thawAll();
  revert(state);
  const late = await expectBeats(state);
  if (late.length > 0) return [...late, ...(await statusProblems(fleet))];
  return within(state, async () => {
    await removeFinalizers(fleet);
    await acknowledgeHold(fleet);
    const status = await statusProblems(fleet);
    return status.length > 0 ? status : contentProblems(fleet, state.foreign);
  });
}

async function within(state: RunState, find: () => Promise<readonly string[]>): Promise<readonly string[]> {
  const sinceDisruption = performance.now() - state.disruptedMs;
  return noProblems(find, LIMIT_MS * loadPerCore() + Math.max(0, LEASE_MS - sinceDisruption));
}

/** At least 1: other tests and builds that run at the same time slow this one down. */
function loadPerCore(): number {
  const [load = 1] = loadavg();
  return Math.max(1, load / availableParallelism());
}

/** Polls until there are no problems. Returns those that are left when the time is over. */
async function noProblems(
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
