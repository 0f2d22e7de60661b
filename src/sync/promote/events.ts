/** Says what has changed: one line in the log, one Event. A pass that changes nothing says nothing. */
import type { Cluster, Release, ReleaseStage } from '../../api/generated/types.ts';
import type { Log } from '../../kube/process/log.ts';
import type { ClusterPlan } from './cluster/plan.ts';
import type { ReleasePlan } from './plan.ts';

export interface Change {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface Announcer {
  readonly log: Log;
  /** For Events. */
  readonly announce?: (about: Cluster | Release, change: Change) => void;
}

const BAD: ReadonlySet<string> = new Set(['Failed', 'Held', 'Unreachable', 'Skipped']);

export function announceCluster(
  { log, announce }: Announcer,
  { member, sync, stage, why }: ClusterPlan,
): void {
  const { cluster } = member.view;
  const { state = 'Pending', commit = 'nothing' } = sync;
  const { state: stateBefore, commit: commitBefore } = cluster.status?.sync ?? {};
  if (stateBefore === state && commitBefore === sync.commit) return;
  const { because } = why;
  log.info('cluster moved', { cluster: cluster.metadata.name, stage, state, commit, because });
  announce?.(cluster, { ...changeTo(state), message: `${commit}: ${because}` });
}

export function announceRelease({ log, announce }: Announcer, { release, status }: ReleasePlan): void {
  const before = new Map((release.status?.stages ?? []).map(({ name, state }) => [name, state]));
  const changed = (status.stages ?? []).filter(
    ({ name, state }) => state !== (before.get(name) ?? 'Pending'),
  );
  for (const stage of changed) {
    const { name, state } = stage;
    const because = reasonFor(stage);
    log.info('stage moved', { release: release.metadata.name, stage: name, state, because });
    announce?.(release, { ...changeTo(state), message: `stage ${name}: ${because}` });
  }
}

function changeTo(state: string): Pick<Change, 'type' | 'reason'> {
  return { type: BAD.has(state) ? 'Warning' : 'Normal', reason: `Sync${state}` };
}

function reasonFor({ state, waiting }: ReleaseStage): string {
  return waiting?.message ?? state;
}
