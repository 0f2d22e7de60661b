/** Finds what forbids every write to a cluster. Pure. */
import type { Cluster } from '../../../api/generated/types.ts';
import { activePause, pauseText } from '../../../api/status/pauses.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import { INVENTORY_DAMAGED } from '../../cluster-report.ts';
import type { CommitHistory } from '../commit-history.ts';
import type { ClusterSnapshot } from '../snapshot.ts';
import type { StageMembership } from '../stage/membership.ts';

export interface WriteBlock extends Explanation {
  /** A person paused the cluster on purpose (Paused), a person has to correct something (Blocked), or git removed it (Removed). */
  readonly state: 'Paused' | 'Blocked' | 'Removed';
}

export interface WriteBlockContext {
  readonly membership: StageMembership;
  readonly history: CommitHistory;
  /** True if a person accepted the newest commit in place of whatever a cluster runs. */
  readonly isHeadAccepted: boolean;
  /** Commits of inventories that the newest accepted one neither contains nor replaces, each with the reason. */
  readonly unaccepted: ReadonlyMap<string, string>;
  readonly now: Date;
}

/** Returns the first block that applies. */
export function writeBlock(
  snapshot: ClusterSnapshot,
  { membership, now, ...context }: WriteBlockContext,
): WriteBlock | undefined {
  return (
    contested(snapshot, membership) ??
    removedFromGit(snapshot) ??
    paused(snapshot.cluster, now) ??
    identityMismatch(snapshot) ??
    sharesCluster(snapshot) ??
    damagedInventory(snapshot) ??
    unacceptedCommit(snapshot, context) ??
    unknownCommit(snapshot, context)
  );
}

function contested(
  { cluster, otherPipeline }: ClusterSnapshot,
  membership: StageMembership,
): WriteBlock | undefined {
  const { name } = cluster.metadata;
  const because =
    membership.kind === 'Contested'
      ? `${name} is selected by ${membership.stages.map((stage) => `stage ${stage}`).join(' and ')}: change its labels or a clusterSelector`
      : otherPipeline && otherPipelineReason(name, otherPipeline);
  if (because === undefined) return undefined;
  return { state: 'Blocked', reason: 'ClusterContested', because, blocker: { kind: 'Cluster', name } };
}

/** The Pipeline that holds the cluster continues. Only the other one is blocked, so that no repository stops the clusters of another. */
function otherPipelineReason(
  cluster: string,
  { name, holds }: NonNullable<ClusterSnapshot['otherPipeline']>,
): string {
  return holds
    ? `Pipeline ${name} holds ${cluster} and keeps it: exclude ${cluster} in the clusterSelector of this Pipeline. To take it over, first exclude it in the stages of Pipeline ${name}`
    : `${cluster} is also selected by Pipeline ${name}: change its labels or a clusterSelector`;
}

/** S12: a Cluster that git removes is abandoned with all its objects. It is never emptied. */
function removedFromGit({ cluster, isRemoved, shared }: ClusterSnapshot): WriteBlock | undefined {
  if (!isRemoved) return undefined;
  const { name } = cluster.metadata;
  const successor = shared?.kind === 'Duplicate' ? `; Cluster ${shared.of} continues with its inventory` : '';
  return {
    state: 'Removed',
    reason: 'RemovedFromGit',
    because: `git does not declare Cluster ${name} any more: nothing is written to it, and its objects stay${successor}`,
    blocker: { kind: 'Cluster', name },
  };
}

/** Two Clusters that write to one cluster would overwrite each other, and prune what only the other one declares. */
function sharesCluster({ cluster, shared }: ClusterSnapshot): WriteBlock | undefined {
  if (!shared) return undefined;
  const { name } = cluster.metadata;
  return shared.kind === 'Duplicate'
    ? {
        state: 'Blocked',
        reason: 'ClusterDuplicate',
        because: `${name} leads to the cluster that Cluster ${shared.of} is registered for (UID ${shared.uid}): nothing is written through ${name}. To rename ${shared.of}, remove it from git; otherwise fix the kubeconfig of ${name}`,
        blocker: { kind: 'Cluster', name: shared.of },
      }
    : {
        state: 'Blocked',
        reason: 'ClusterDuplicate',
        because: `${name} takes over the cluster of Cluster ${shared.from} (UID ${shared.uid}) as soon as that one is stopped`,
        blocker: { kind: 'Cluster', name: shared.from },
      };
}

function paused({ metadata, spec }: Cluster, now: Date): WriteBlock | undefined {
  const { name } = metadata;
  const blocker = { kind: 'Cluster', name };
  if (spec.paused) {
    return { state: 'Paused', reason: 'Paused', because: `${name} is paused (spec.paused)`, blocker };
  }
  const pause = activePause({ spec }, now);
  if (!pause) return undefined;
  return {
    state: 'Paused',
    reason: 'Paused',
    because: `${name} is ${pauseText(pause)}`,
    blocker,
    ...optional('until', pause.until ? new Date(pause.until) : undefined),
  };
}

/** Blocks a Cluster whose kubeconfig leads to another cluster. */
function identityMismatch({ cluster, report }: ClusterSnapshot): WriteBlock | undefined {
  if (report?.identity !== 'Mismatch') return undefined;
  const { name } = cluster.metadata;
  return {
    state: 'Blocked',
    reason: 'IdentityMismatch',
    because: `another cluster answers for ${name}: fix its kubeconfig. If the cluster was recreated on purpose, set spec.clusterUID`,
    blocker: { kind: 'Cluster', name },
  };
}

function damagedInventory({ cluster, report }: ClusterSnapshot): WriteBlock | undefined {
  if (!report?.reachable || report.failure?.reason !== INVENTORY_DAMAGED) return undefined;
  return {
    state: 'Blocked',
    reason: INVENTORY_DAMAGED,
    because: report.failure.message,
    blocker: { kind: 'Cluster', name: cluster.metadata.name },
  };
}

/**
 * S39: blocks a cluster that runs a commit outside the history of the newest accepted commit. Hub and repository were restored
 * from a backup, and the cluster was not: it is not taken back, although the hub has recorded an older commit for it.
 */
function unacceptedCommit(
  { cluster, report }: ClusterSnapshot,
  { unaccepted }: Pick<WriteBlockContext, 'unaccepted'>,
): WriteBlock | undefined {
  const because = report?.commits?.map((commit) => unaccepted.get(commit)).find(Boolean);
  if (because === undefined) return undefined;
  const { name } = cluster.metadata;
  return {
    state: 'Blocked',
    reason: 'CommitUnknown',
    because: `nothing is written to ${name}: ${because}`,
    blocker: { kind: 'Cluster', name },
  };
}

type HeadContext = Pick<WriteBlockContext, 'history' | 'isHeadAccepted'>;

/**
 * Blocks a cluster of which the hub has no record and whose inventory names only commits that are not in git: it is not
 * overwritten unasked.
 */
function unknownCommit({ cluster, report }: ClusterSnapshot, context: HeadContext): WriteBlock | undefined {
  const { name } = cluster.metadata;
  const isRecorded = cluster.status?.sync?.commit !== undefined;
  const isExpected = isRecorded || context.isHeadAccepted;
  const commit = isExpected ? undefined : firstUnknown(report?.commits ?? [], context.history);
  if (commit === undefined) return undefined;
  return {
    state: 'Blocked',
    reason: 'CommitUnknown',
    because: `${name} runs commit ${commit}, which is not an accepted commit: to overwrite it, run: kubenode release accept-head`,
    blocker: { kind: 'Cluster', name },
  };
}

/** Returns the first commit if none of them is known. Until a commit was read, none counts as unknown. */
function firstUnknown(commits: readonly string[], history: CommitHistory): string | undefined {
  return history.newest && commits.every((commit) => history.order(commit) < 0) ? commits[0] : undefined;
}
