/** Carries out a sequence of acts, reverts to the good commit, and returns what is not as that commit declares it. */
import { setTimeout as pause } from 'node:timers/promises';
import { optional } from '../../../../src/kube/objects/optional.ts';
import type { Act, ByHand } from '../../../sync/fuzz/acts.ts';
import { applyEdits, GOOD, withBeat } from '../../../sync/fuzz/content.ts';
import { statusProblems } from './check.ts';
import { startFault } from './faults.ts';
import type { FuzzFleet } from './fuzz-fleet.ts';
import { actByHand } from './hands.ts';
import { leaseHolder, pipelineHead } from './observe.ts';
import {
  expectBeats,
  nextCommitNumber,
  noProblems,
  type RunState,
  repair,
  settle,
  within,
} from './settle.ts';
import { TARGET } from './setup.ts';

export interface SequenceResult {
  readonly problems: readonly string[];
  readonly seconds: number;
  /** From the revert at the end until everything was as in git. */
  readonly revertSeconds: number;
  /** Verdicts on the commits that the sequence waited for. */
  readonly verdicts: readonly string[];
  /** What the processes logged until the first problem was found. A process that ends later takes its log with it. */
  readonly log?: string;
}

/** Two processes start, on a busy machine. */
const START_MS = 300_000;

/** An empty fleet that has reached its first commit: a sequence fails for its own acts. */
export async function startOver(fleet: FuzzFleet): Promise<void> {
  await fleet.reset();
  const problems = await noProblems(() => statusProblems(fleet), START_MS);
  if (problems.length > 0) throw new Error(`the first commit was not applied: ${problems.join('; ')}`);
}

export async function runSequence(fleet: FuzzFleet, acts: readonly Act[]): Promise<SequenceResult> {
  const startMs = performance.now();
  const state: RunState = {
    fleet,
    content: GOOD,
    beat: 'good',
    disruptedMs: Number.NEGATIVE_INFINITY,
    faults: new Map(),
    foreign: [],
    verdicts: [],
  };
  const problems: string[] = [];
  let log: string | undefined;
  const note = (found: readonly string[]): void => {
    problems.push(...found);
    if (problems.length > 0) log ??= fleet.processes.logTail();
  };
  try {
    for (const act of acts) note(await carryOut(state, act));
    const revertMs = performance.now();
    fleet.processes.thawAll();
    await repair(state, (fault) => fault.isCutOff);
    revert(state);
    note(await settle(state));
    const endMs = performance.now();
    return {
      problems,
      seconds: (endMs - startMs) / 1000,
      revertSeconds: (endMs - revertMs) / 1000,
      verdicts: state.verdicts,
      ...optional('log', log),
    };
  } finally {
    await repair(state, () => true);
  }
}

type ActOf<K extends Act['act']> = Extract<Act, { act: K }>;
type Problems = readonly string[] | undefined;

const ACTS: { readonly [K in Act['act']]: (state: RunState, act: ActOf<K>) => Promise<Problems> } = {
  async commit(state, { edits, pauseMs }) {
    const number = String(nextCommitNumber());
    const edited = applyEdits(state.content, edits);
    const isDropped = Object.keys(edited).length === 0;
    state.beat = isDropped ? undefined : number;
    state.content = isDropped ? edited : withBeat(edited, number);
    const commit = state.fleet.commit(TARGET, `commit ${number}`, state.content);
    return pauseMs === undefined ? undefined : observed(state, commit, pauseMs);
  },
  async unrenderable({ fleet }) {
    fleet.commitUnrenderable(TARGET);
    return undefined;
  },
  async fault({ fleet, faults }, { fault }) {
    // Nothing more can break in a server that was killed.
    if (faults.has(fault) || faults.has('server killed')) return undefined;
    faults.set(fault, await startFault(fleet, fault));
    return undefined;
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
