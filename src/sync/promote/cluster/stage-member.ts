/** Describes what is known about one cluster of a stage before it is compared with a commit. Pure. */
import type { ClusterSync, Stage } from '../../../api/generated/types.ts';
import { activeRollback } from '../../../api/status/rollbacks.ts';
import type { Explanation } from '../../../rollout/explanation.ts';
import type { ClusterSnapshot, PromotionHold } from '../snapshot.ts';
import { adoptObserved, hasObservedTarget } from './adopt-observed.ts';
import { type ClusterProgress, observedProgress, recordedProgress } from './progress.ts';
import { clusterReachability, type Reachability } from './reachability.ts';
import type { ProgressState } from './rollout-state.ts';
import { type WriteBlock, type WriteBlockContext, writeBlock } from './write-block.ts';

export interface StageMember {
  readonly name: string;
  readonly snapshot: ClusterSnapshot;
  /** `status.sync` as recorded before this reconcile. */
  readonly recorded: ClusterSync;
  readonly progress: ClusterProgress;
  /** True if the inventory in the cluster names the assigned content: at least a part of it was written. */
  readonly hasStarted: boolean;
  readonly reachability: Reachability;
  readonly block: WriteBlock | undefined;
}

export interface MemberContext extends WriteBlockContext {
  /** Digests whose failure a person has acknowledged. */
  readonly acknowledged: ReadonlySet<string>;
  readonly holds?: readonly PromotionHold[];
}

/** In these states the content of the cluster does not count: it may be the content of another Cluster. */
const HIDES_CONTENT: ReadonlySet<WriteBlock['state'] | undefined> = new Set(['Blocked', 'Removed'] as const);

export function createStageMember(
  snapshot: ClusterSnapshot,
  stage: Stage,
  context: MemberContext,
): StageMember {
  const recorded = snapshot.cluster.status?.sync ?? {};
  const reachability = clusterReachability(snapshot, stage.unreachable.graceSeconds, context.now);
  const block = writeBlock(snapshot, context);
  const isObserved = reachability.state === 'Reachable' && !HIDES_CONTENT.has(block?.state);
  const progress = isObserved
    ? observedProgress(
        snapshot,
        isReturned(snapshot) ? recorded : adoptObserved(recorded, snapshot, context.history, context.now),
        context,
        stage,
      )
    : recordedProgress(recorded);
  return {
    name: snapshot.cluster.metadata.name,
    snapshot,
    recorded,
    progress: afterAcknowledgement(progress, context),
    hasStarted: hasObservedTarget(progress.sync, snapshot, context.history),
    reachability,
    block,
  };
}

/** The inventory still names the newer commit that a person rolled back: it is not adopted. */
function isReturned({ cluster }: ClusterSnapshot): boolean {
  const rollback = activeRollback(cluster);
  return rollback !== undefined && cluster.status?.sync?.renderedDigest === rollback.digest;
}

/**
 * A person acknowledged the failure of the content that it runs: as soon as it is observed healthy again it soaks like new
 * content. While it keeps failing, the acknowledgement has no effect.
 */
function afterAcknowledgement(progress: ClusterProgress, { acknowledged }: MemberContext): ClusterProgress {
  const { renderedDigest, soak } = progress.sync;
  const isAcknowledged = renderedDigest !== undefined && acknowledged.has(renderedDigest);
  if (progress.state !== 'Failed' || !isAcknowledged || soak?.settledAt === undefined) return progress;
  const because = `soaks as a whole after an acknowledged failure (${progress.because})`;
  return { ...progress, state: 'Soaking', failing: false, reason: 'Soaking', because };
}

const UNPROVEN: ReadonlySet<ProgressState> = new Set(['Applying', 'Soaking', 'Held', 'UnitPaused'] as const);

/** Tells whether the cluster started the content that it runs, and that is neither proven nor failed yet. */
export function isUnproven({ progress }: StageMember): boolean {
  return UNPROVEN.has(progress.state);
}

/**
 * Returns why deletes of the cluster are held. A proof stays while they are held: what git declares is there and healthy. The
 * objects that it does not declare any more are there, too, until a person acknowledges their deletion. `sync` is the record with
 * the content that the cluster gets now.
 */
export function deleteHold(
  { progress, snapshot: { report } }: StageMember,
  { renderedDigest }: ClusterSync,
): Explanation | undefined {
  if (progress.state === 'Held') return progress;
  const work = report?.work;
  if (work?.state !== 'Held' || work.digest !== renderedDigest) return undefined;
  return { reason: work.reason, because: work.message };
}
