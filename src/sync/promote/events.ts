/** Logs state changes and records them as Events. A reconcile that changes nothing writes neither. */
import type { Cluster, Release, ReleaseStage } from '../../api/generated/types.ts';
import type { Log } from '../../kube/process/log.ts';
import type { ClusterPlan } from './cluster/plan.ts';
import type { ReleaseUpdate } from './release/plan.ts';

export interface PromotionEvent {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

export interface PromotionEvents {
  readonly log: Log;
  readonly recordEvent?: (about: Cluster | Release, event: PromotionEvent) => void;
}

const WARNING_STATES: ReadonlySet<string> = new Set(['Failed', 'Held', 'Unreachable', 'Skipped']);

export function recordClusterChange(
  { log, recordEvent }: PromotionEvents,
  { member, sync, stage, why }: ClusterPlan,
): void {
  const { cluster } = member.snapshot;
  const { state = 'Pending', commit = 'no commit' } = sync;
  const { state: stateBefore, commit: commitBefore } = cluster.status?.sync ?? {};
  if (stateBefore === state && commitBefore === sync.commit) return;
  const { because } = why;
  log.info('cluster state changed', { cluster: cluster.metadata.name, stage, state, commit, because });
  recordEvent?.(cluster, { ...eventFor(state), message: `${commit}: ${because}` });
}

export function recordReleaseChange(
  { log, recordEvent }: PromotionEvents,
  { release, status }: ReleaseUpdate,
): void {
  const before = new Map((release.status?.stages ?? []).map(({ name, state }) => [name, state]));
  const changed = (status.stages ?? []).filter(
    ({ name, state }) => state !== (before.get(name) ?? 'Pending'),
  );
  for (const stage of changed) {
    const { name, state } = stage;
    const because = stageReason(stage, status.supersededBy);
    log.info('stage state changed', { release: release.metadata.name, stage: name, state, because });
    recordEvent?.(release, { ...eventFor(state), message: `stage ${name}: ${because}` });
  }
}

function eventFor(state: string): Pick<PromotionEvent, 'type' | 'reason'> {
  return { type: WARNING_STATES.has(state) ? 'Warning' : 'Normal', reason: `Sync${state}` };
}

function stageReason(stage: ReleaseStage, supersededBy = 'a newer release'): string {
  if (stage.state === 'Superseded') return `replaced by ${supersededBy}`;
  return stage.state === 'Proven' ? provenReason(stage) : (stage.waiting?.message ?? 'started');
}

function provenReason({ clusters: { total = 0, proven = 0 } = {} }: ReleaseStage): string {
  return total === 0 ? 'proven: the stage has no cluster' : `proven on ${proven} of ${total} clusters`;
}
