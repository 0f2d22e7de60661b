/** What is written down about a cluster after a pass, and what it is told to do. Pure. */
import type { ClusterSync } from '../../../api/generated/types.ts';
import type { ClusterTarget } from '../../cluster-report.ts';
import type { TargetDigests } from '../../commits.ts';
import type { Road } from '../release/order.ts';
import { type Because, cut, MAX_MESSAGE, MAX_NAMES, optional } from '../snapshot.ts';
import type { StagePlan } from '../stage/stage.ts';
import { unitsToSoak } from './proofs.ts';
import { ALL_UNITS, soakFor } from './soak.ts';
import { type Member, type MemberContext, type Position, type Standing } from './stage-member.ts';

type State = NonNullable<ClusterSync['state']>;

export interface ClusterPlan {
  readonly name: string;
  readonly stage?: string;
  readonly member: Member;
  /** Written down before `target` is said. */
  readonly sync: ClusterSync;
  readonly target: ClusterTarget;
  /** It is given something new, or goes on after it was away. */
  readonly begins: boolean;
  /** Why it stands where it stands. */
  readonly why: Because;
}

export interface Frame {
  readonly pipeline: string;
  readonly paused: boolean;
  readonly context: MemberContext;
}

export function clusterPlans(plan: StagePlan, frame: Frame): readonly ClusterPlan[] {
  return plan.members
    .filter(({ block }) => block?.reason !== 'ClusterContested')
    .map((member) => {
      const standing = plan.standings.find((each) => each.member === member);
      return standing && plan.on
        ? placed(standing, plan, plan.on, frame)
        : unplaced(member, plan.stage.name, frame);
    });
}

/** Its stage is on nothing, or it has no stage, or two: it keeps what it has, and gets nothing. */
export function unplaced(
  member: Member,
  stage: string | undefined,
  { context, ...frame }: Frame,
): ClusterPlan {
  const { sync } = member.progress;
  const { state, ...why } = member.block ?? nothingFor(sync, stage);
  const keeps = stage !== undefined && keepsWhatItHas(member) && mayWrite(member, frame.paused);
  const mode = keeps ? 'Apply' : 'Observe';
  return said({ member, stage, frame, why, state, begins: false, mode, sync, now: context.now });
}

function nothingFor({ commit }: ClusterSync, stage: string | undefined): Because & { readonly state: State } {
  const state = commit === undefined ? 'Pending' : 'Ahead';
  return stage === undefined
    ? { state, reason: 'Unassigned', because: 'it belongs to no stage' }
    : { state, reason: 'StageBefore', because: `stage ${stage} has nothing for it yet` };
}

function placed(standing: Standing, plan: StagePlan, on: Road, { context, ...frame }: Frame): ClusterPlan {
  const { member } = standing;
  const stage = plan.stage.name;
  const begin = plan.begins.get(member.name);
  const begins = begin !== undefined;
  const sync =
    begins && !standing.same
      ? intentFor(standing, stage, on, context)
      : relabelled(standing, stage, on, context);
  const mode = mayWrite(member, frame.paused) && (begins || keepsWriting(standing)) ? 'Apply' : 'Observe';
  const { reason, because, blocker } = standing;
  const why = { reason, because: begin ?? because, ...optional('blocker', blocker) };
  return said({ member, stage, frame, why, state: stateFor(standing), begins, mode, sync, now: context.now });
}

/** The intent: it is written down before the first write to the cluster. */
function intentFor(
  { member, digest }: Standing,
  stage: string,
  on: Road,
  { history, now }: MemberContext,
): ClusterSync {
  const { objects: _objects, failures: _failures, ...sync } = member.progress.sync;
  const target = history.target(on.commit, member.name) ?? bare(digest);
  const failedBefore = sync.failed?.some((entry) => entry.digest === target.digest) ?? false;
  const units = failedBefore ? [ALL_UNITS] : unitsToSoak(sync, target, { history, cluster: member.name });
  // It begins although it failed here: a person acknowledged that, and now it is on trial like anything new.
  const failed = sync.failed?.filter((entry) => entry.digest !== target.digest);
  return {
    ...sync,
    ...optional('failed', failed),
    commit: on.commit,
    renderedDigest: target.digest,
    release: on.name,
    stage,
    soak: soakFor(target, units, sync.soak, now),
  };
}

function bare(digest: string | undefined): TargetDigests {
  return { digest: digest ?? '', units: new Map() };
}

/** The same content under a newer commit: a new name, no write, no new soak. */
function relabelled(
  { member, same, position }: Standing,
  stage: string,
  on: Road,
  { history }: MemberContext,
): ClusterSync {
  const { sync } = member.progress;
  const named = { ...sync, stage };
  if (!same || position === 'Blocked' || member.reach.state !== 'Reached') return named;
  // Never an older name: what was adopted from the cluster keeps the newer one.
  const isOlder = history.order(on.commit) < history.order(sync.commit);
  return isOlder ? named : { ...named, commit: on.commit, release: on.name };
}

function mayWrite({ block, reach }: Member, paused: boolean): boolean {
  return !paused && block === undefined && reach.state === 'Reached';
}

/** What a newer commit took over half-way is left alone until its turn; what is done, or ahead, is kept as it is. */
function keepsWriting({ position, same, member }: Standing): boolean {
  if (position === 'Ahead') return keepsWhatItHas(member);
  if (same) return position !== 'Pending';
  return member.progress.trial === 'Proven';
}

/** What it was only promised in another stage, and never began, it does not begin here. */
function keepsWhatItHas({ progress, hasBegun }: Member): boolean {
  return progress.trial === 'Proven' || hasBegun;
}

const STATES: Readonly<Record<Position, State | undefined>> = {
  Proven: 'Proven',
  Soaking: 'Soaking',
  Applying: 'Applying',
  Held: 'Held',
  Failed: 'Failed',
  Inherits: 'Failed',
  Pending: 'Pending',
  Unseen: undefined,
  Unreachable: 'Unreachable',
  Skipped: 'Skipped',
  Paused: 'Paused',
  Blocked: 'Held',
  Ahead: 'Ahead',
  Unrendered: 'Pending',
};

function stateFor({ position, member }: Standing): State {
  return STATES[position] ?? member.before.state ?? 'Pending';
}

interface Said {
  readonly member: Member;
  readonly stage: string | undefined;
  readonly frame: Omit<Frame, 'context'>;
  readonly why: Because;
  readonly state: State;
  readonly begins: boolean;
  readonly mode: ClusterTarget['mode'];
  readonly sync: ClusterSync;
  readonly now: Date;
}

function said({ member, stage, frame, why, state, begins, mode, sync, now }: Said): ClusterPlan {
  const { commit, renderedDigest } = sync;
  const known = renderedDigest === undefined ? 'Observe' : mode;
  const written = withReport(
    { ...sync, state, since: sinceOf(member, state, now), message: cut(why.because, MAX_MESSAGE) },
    member,
  );
  return {
    name: member.name,
    ...optional('stage', stage),
    member,
    sync: written,
    target: {
      mode: known,
      pipeline: frame.pipeline,
      because: why.because,
      ...optional('commit', commit),
      ...optional('digest', renderedDigest),
    },
    begins,
    why,
  };
}

/** The grace of a cluster that cannot be seen runs from when it was last seen, through both of its states. */
function sinceOf({ before, reach }: Member, state: State, now: Date): string {
  if ((state === 'Unreachable' || state === 'Skipped') && 'since' in reach) return reach.since.toISOString();
  return before.state === state && before.since !== undefined ? before.since : now.toISOString();
}

/** How often `lastContactAt` alone is worth a write. */
const CONTACT_EVERY_MS = 300_000;

function withReport(sync: ClusterSync, { view, before }: Member): ClusterSync {
  const { report } = view;
  const contacted = {
    ...sync,
    ...optional('lastContactAt', contact(before.lastContactAt, report?.lastContactAt)),
  };
  const work = report?.work;
  if (!work || work.digest !== sync.renderedDigest) return contacted;
  const { failures: _old, ...rest } = contacted;
  const failures = work.failures.length > 0 ? work.failures.slice(0, MAX_NAMES) : undefined;
  return { ...rest, objects: work.objects, ...optional('failures', failures) };
}

function contact(before: string | undefined, seen: Date | undefined): string | undefined {
  if (!seen) return before;
  const isNews = before === undefined || Math.abs(+seen - Date.parse(before)) >= CONTACT_EVERY_MS;
  return isNews ? seen.toISOString() : before;
}
