/**
 * One stage: which commit it is on now, and which of its clusters begin. Pure.
 *
 * A stage moves to the newest commit proven in the stage before it. While it is busy, a newer commit waits, unless what
 * the stage is busy with gives way (S34).
 */
import type { Pipeline, Stage } from '../../../api/generated/types.ts';
import {
  isBusy,
  isOnTrial,
  type Member,
  type MemberContext,
  type Standing,
  standingAt,
} from '../cluster/stage-member.ts';
import { beginLimit, entryLimit, type Limit } from '../limits.ts';
import { isAfter, newer, presentOf, type Road } from '../release/order.ts';
import { planDigestOf, rendersAsPromoted } from '../release/release.ts';
import { type Because, optional } from '../snapshot.ts';
import { unexercisedIn } from './unexercised.ts';
import { failedIn, givesWay, isRevert, type Verdict, verdictOf } from './verdict.ts';

export interface StageInput {
  readonly pipeline: Pipeline;
  readonly stage: Stage;
  /** By name. */
  readonly members: readonly Member[];
  readonly roads: readonly Road[];
  /** The newest commit proven in the stage before, or the newest accepted one. */
  readonly candidate: Road | undefined;
  /** Names of the clusters of the stages before. */
  readonly earlier: readonly string[];
  readonly unassigned: readonly string[];
  /** It had clusters once: then without any it holds, and nothing passes through. */
  readonly hadClusters: boolean;
  readonly context: MemberContext;
}

export interface StagePlan {
  readonly stage: Stage;
  readonly members: readonly Member[];
  /** What the stage is on. Undefined before its first commit. */
  readonly on: Road | undefined;
  readonly standings: readonly Standing[];
  readonly verdict: Verdict | undefined;
  /** Clusters that begin, or go on after they were away. */
  readonly begins: ReadonlyMap<string, string>;
  /** What it left in this pass, and whether that was proven. */
  readonly left?: Departure;
  /** The newest that is proven here, as of this pass. */
  readonly proven: Road | undefined;
  /** The same, if what it renders to now is proven here: the candidate of the next stage. */
  readonly passes: Road | undefined;
  /** What wants to come in, and why it cannot yet. */
  readonly next?: { readonly road: Road; readonly wait: Because };
  readonly limit: Limit | undefined;
}

export interface Departure {
  readonly road: Road;
  readonly standings: readonly Standing[];
  readonly verdict: Verdict;
}

export function planStage(input: StageInput): StagePlan {
  const { roads, stage, candidate } = input;
  const present = presentOf(roads, stage.name);
  const stays = present.on && staying(present.on, present.busy, input);
  if (!candidate || !isAfter(candidate, present.on, roads)) return settle(input, stays, present.proven);

  const there = at(candidate, input);
  const wait = whyNot(input, stays, there);
  if (wait) return { ...settle(input, stays, present.proven), next: { road: candidate, wait } };
  const provenHere = stays?.verdict.state === 'Proven' ? stays.road : present.proven;
  return { ...settle(input, there, provenHere), ...optional('left', stays) };
}

/** A stage that was proven stays so: only what it is busy with is judged anew. */
function staying(road: Road, busy: boolean, input: StageInput): Departure {
  const here = at(road, input);
  return busy ? here : { ...here, verdict: { state: 'Proven' } };
}

function at(road: Road, { members, stage, context }: StageInput): Departure {
  const standings = members.map((member) => standingAt(member, road.commit, context));
  return { road, standings, verdict: verdictOf(standings, stage) };
}

/** Undefined: the stage takes the candidate now. */
function whyNot(input: StageInput, stays: Departure | undefined, there: Departure): Because | undefined {
  const { stage, pipeline, members, hadClusters, unassigned, earlier, context } = input;
  if (members.length === 0 && hadClusters) {
    const blocker = { kind: 'Pipeline', name: pipeline.metadata.name };
    return {
      reason: 'NoClusters',
      because: `stage ${stage.name} lost its last cluster, and proves nothing`,
      blocker,
    };
  }
  if (stays && isHealthyBusy(stays, there, input)) {
    const { name } = stays.road;
    return {
      reason: 'StageBusy',
      because: `stage ${stage.name} is busy with ${name}`,
      blocker: { kind: 'Release', name },
    };
  }
  const changed = there.standings.filter(({ same }) => !same).map(({ member }) => member.name);
  const range = { from: stays?.road.commit, to: there.road.commit };
  const unexercised = unexercisedIn(context.history, range, changed, earlier).length;
  const planDigest = planDigestOf(there.road.release, context.history);
  const limit = entryLimit({ pipeline, stage, planDigest, unassigned, changes: changed.length, unexercised });
  return limit.places > 0 ? undefined : limit;
}

function isHealthyBusy(stays: Departure, there: Departure, input: StageInput): boolean {
  const { stage, context } = input;
  if (stays.verdict.state === 'Proven' || isRerendered(stays.road, input)) return false;
  if (givesWay(stays.standings, stage)) return false;
  return !isRevert(there.standings, there.road.commit, context);
}

const IDLE = {
  on: undefined,
  standings: [],
  verdict: undefined,
  begins: new Map<string, string>(),
  limit: undefined,
};

/** The stage stays on this commit, or came to it: who begins? */
function settle(input: StageInput, here: Departure | undefined, proven: Road | undefined): StagePlan {
  const { stage, members, hadClusters } = input;
  if (!here) return { ...IDLE, stage, members, proven, passes: asPromoted(proven, input) };
  const { begins, limit } = beginning(input, here);
  const standings = here.standings.map((standing) => afterBegin(standing, begins, limit));
  const passed = members.length === 0 && !hadClusters;
  const live: Verdict = passed ? { state: 'Proven' } : verdictOf(standings, stage);
  const verdict: Verdict = here.verdict.state === 'Proven' ? { state: 'Proven' } : live;
  const best = verdict.state === 'Proven' ? newer(proven, here.road, input.roads) : proven;
  const isLive = live.state === 'Proven' && best === here.road;
  const passes = isLive ? best : asPromoted(best, input);
  return { stage, members, on: here.road, standings, verdict, begins, proven: best, passes, limit };
}

function beginning(
  input: StageInput,
  { road, standings }: Departure,
): { begins: ReadonlyMap<string, string>; limit: Limit } {
  const { pipeline, stage, unassigned } = input;
  const failed = failedIn(standings);
  const busy = standings.filter(isBusy).length;
  const rerendered = isRerendered(road, input) ? road.commit : undefined;
  const asked = {
    pipeline,
    stage,
    unassigned,
    total: standings.length,
    failed,
    ...optional('rerendered', rerendered),
  };
  const { places } = beginLimit({ ...asked, busy });
  const queue = standings
    .filter((standing) => standing.position === 'Pending' || wantsPlace(standing))
    .toSorted((a, b) => turnOf(a) - turnOf(b));
  const begins = queue.slice(0, Math.max(0, places)).map(({ member, same }) => {
    return [member.name, same ? 'it goes on where it stood' : `its turn in ${stage.name}`] as const;
  });
  return { begins: new Map(begins), limit: beginLimit({ ...asked, busy: busy + begins.length }) };
}

/** What was proven under that name is what it renders to still. */
function asPromoted(proven: Road | undefined, { context }: StageInput): Road | undefined {
  return proven && rendersAsPromoted(proven.release, context.history) ? proven : undefined;
}

/** The first stage proves what a commit renders to now; the others take it from the stage before. */
function isRerendered(road: Road, input: StageInput): boolean {
  return road !== input.candidate && asPromoted(road, input) === undefined;
}

/** It was away in the middle of its trial, and its place was given to others. */
export function wantsPlace(standing: Standing): boolean {
  const { position, member, same } = standing;
  const going = position === 'Applying' || position === 'Soaking' || position === 'Held';
  return same && going && isOnTrial(member) && !isBusy(standing);
}

/** What a pre-empted commit left half-done comes first, then where it failed, then who was away, then the rest by name. */
function turnOf({ member, same }: Standing): number {
  if (!same && isOnTrial(member)) return 0;
  if (!same && member.progress.trial === 'Failed') return 1;
  return same ? 2 : 3;
}

function afterBegin(standing: Standing, begins: ReadonlyMap<string, string>, limit: Limit): Standing {
  const isPending = standing.position === 'Pending';
  const because = begins.get(standing.member.name);
  if (because !== undefined) {
    return isPending ? { ...standing, position: 'Applying', reason: 'Applying', because } : standing;
  }
  if (!isPending && !wantsPlace(standing) && !losesPlace(standing, limit)) return standing;
  const { reason, because: full, blocker } = limit;
  return { ...standing, position: 'Pending', reason, because: full, ...optional('blocker', blocker) };
}

/** A held plan has written nothing yet. Released after the budget is spent, it would be one more cluster that begins. */
function losesPlace({ position }: Standing, { reason }: Limit): boolean {
  return position === 'Held' && reason === 'FailureBudgetSpent';
}
