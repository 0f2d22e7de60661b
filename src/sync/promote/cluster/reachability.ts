/** Whether a cluster can be seen, and whether anything keeps us from writing to it. Pure. */
import type { Cluster, ClusterSync } from '../../../api/generated/types.ts';
import type { History } from '../commit-history.ts';
import { type Because, type ClusterView, optional } from '../snapshot.ts';
import type { Membership } from '../stage/membership.ts';

export type Reach =
  | { readonly state: 'Reached' }
  | { readonly state: 'Unknown' }
  /** Lost: for longer than the stage's grace. */
  | { readonly state: 'Unreachable' | 'Lost'; readonly since: Date; readonly until: Date };

/** Unknown: nobody has tried yet, or nobody knows yet whether it is the same cluster as before. */
export function reachOf({ cluster, report }: ClusterView, graceSeconds: number, now: Date): Reach {
  if (report?.reachable === undefined) return { state: 'Unknown' };
  if (report.reachable) return { state: report.identity === 'Unknown' ? 'Unknown' : 'Reached' };
  const since = unseenSince(cluster.status?.sync, report.lastContactAt, now);
  const until = new Date(+since + graceSeconds * 1000);
  return { state: now >= until ? 'Lost' : 'Unreachable', since, until };
}

/**
 * What is written down counts first, so that a restart does not begin the grace anew. Time in which sync itself was
 * away is not held against the cluster: the grace begins when it is first found out of reach.
 */
function unseenSince(sync: ClusterSync | undefined, lastContactAt: Date | undefined, now: Date): Date {
  const written = sync?.state === 'Unreachable' || sync?.state === 'Skipped' ? sync.since : undefined;
  const since = written === undefined ? (lastContactAt ?? now) : new Date(written);
  // A clock that was set back must not make the grace longer than it is.
  return since > now ? now : since;
}

export interface Block extends Because {
  readonly state: 'Paused' | 'Held';
}

/** The first thing that forbids every write to this cluster. */
export function blockOf(
  view: ClusterView,
  { membership, history, acceptHead, now }: BlockContext,
): Block | undefined {
  const accepted = acceptHead !== undefined && acceptHead === history.newest?.id;
  return (
    contested(view, membership) ??
    pausedBy(view.cluster, now) ??
    impostor(view) ??
    (accepted ? undefined : stranger(view, history))
  );
}

export interface BlockContext {
  readonly membership: Membership;
  readonly history: History;
  /** `spec.source.acceptHead` of the Pipeline. */
  readonly acceptHead: string | undefined;
  readonly now: Date;
}

function contested({ cluster, rival }: ClusterView, membership: Membership): Block | undefined {
  const by =
    membership.kind === 'Contested'
      ? membership.stages.map((stage) => `stage ${stage}`)
      : rival === undefined
        ? []
        : [`pipeline ${rival}`];
  if (by.length === 0) return undefined;
  return {
    state: 'Held',
    reason: 'ClusterContested',
    because: `${cluster.metadata.name} is selected by ${by.join(' and ')}: change its labels or a clusterSelector`,
    blocker: { kind: 'Cluster', name: cluster.metadata.name },
  };
}

/** Pauses of a unit or an object are for those who apply. */
function pausedBy({ metadata, spec }: Cluster, now: Date): Block | undefined {
  const blocker = { kind: 'Cluster', name: metadata.name };
  if (spec.paused) {
    return {
      state: 'Paused',
      reason: 'Paused',
      because: `${metadata.name} is paused (spec.paused)`,
      blocker,
    };
  }
  const pause = spec.pauses.find(
    ({ unit, object, until }) => !unit && !object && (until === undefined || new Date(until) > now),
  );
  if (!pause) return undefined;
  const because = `${metadata.name} is paused by ${pause.by}: ${pause.reason}`;
  return {
    state: 'Paused',
    reason: 'Paused',
    because,
    blocker,
    ...(pause.until ? { until: new Date(pause.until) } : {}),
  };
}

/** Another cluster behind the same address. */
function impostor({ cluster, report }: ClusterView): Block | undefined {
  if (report?.identity !== 'Mismatch') return undefined;
  const { name } = cluster.metadata;
  return {
    state: 'Held',
    reason: 'IdentityMismatch',
    because: `another cluster answers for ${name}: correct its address, or register it anew with spec.clusterUID`,
    blocker: { kind: 'Cluster', name },
  };
}

/** A hub without memory meets a cluster that runs something which is not in git: it must not be overwritten unasked. */
function stranger({ cluster, report }: ClusterView, history: History): Block | undefined {
  const { name } = cluster.metadata;
  const isRemembered = cluster.status?.sync?.commit !== undefined;
  const strange = isRemembered ? undefined : strangeCommit(report?.commits ?? [], history);
  if (strange === undefined) return undefined;
  return {
    state: 'Held',
    reason: 'CommitUnknown',
    because: `${name} runs commit ${strange}, which is not among the accepted ones: accept the head with spec.source.acceptHead`,
    blocker: { kind: 'Cluster', name },
  };
}

/** Before any commit was read, nothing is strange. */
function strangeCommit(commits: readonly string[], history: History): string | undefined {
  return history.newest && commits.every((commit) => history.order(commit) < 0) ? commits[0] : undefined;
}

/**
 * What the cluster says of itself counts more than an older memory of the hub: a hub that was restored from a backup must
 * not take clusters back. How it came there is forgotten with it, so it soaks again, even where the content is what the
 * hub remembers: in between it was something else.
 */
export function adopted(
  sync: ClusterSync,
  { cluster, report }: ClusterView,
  history: History,
  now: Date,
): ClusterSync {
  const newest = newestOf(report?.commits, history);
  if (newest === undefined || history.order(newest) <= history.order(sync.commit)) return sync;
  const digest = history.target(newest, cluster.metadata.name)?.digest;
  const { release: _release, stage: _stage, renderedDigest: _digest, ...rest } = sync;
  const soak = { startedAt: now.toISOString(), clocks: [] };
  return { ...rest, commit: newest, ...optional('renderedDigest', digest), soak };
}

export function newestOf(commits: readonly string[] | undefined, history: History): string | undefined {
  return commits?.toSorted((a, b) => history.order(b) - history.order(a))[0];
}
