/** Inputs of the planner's parts: valid by default, with what a test is about. */
import type { Cluster, ClusterSync, Release, ReleaseStage } from '../../../src/api/generated/types.ts';
import type { ClusterReport } from '../../../src/sync/cluster-report.ts';
import type { AcceptedCommit, TargetDigests } from '../../../src/sync/commits.ts';
import type { ClusterRollout } from '../../../src/sync/promote/cluster/rollout.ts';
import type { ClusterRolloutState } from '../../../src/sync/promote/cluster/rollout-state.ts';
import type { MemberContext, StageMember } from '../../../src/sync/promote/cluster/stage-member.ts';
import { createCommitHistory } from '../../../src/sync/promote/commit-history.ts';
import type { ClusterSnapshot } from '../../../src/sync/promote/snapshot.ts';
import { NOW } from '../../rollout/builders.ts';

/** `a1 b2`: unit a at version a1, unit b at version b2; the digest is the text itself. */
export function targetOf(content: string): TargetDigests {
  const words = content.split(' ').filter((word) => word !== '');
  return { digest: content, units: new Map(words.map((word) => [word.slice(0, 1), word])) };
}

/** Commits c1, c2, … with what each renders to, by cluster. */
export function commitsOf(
  ...contents: readonly Readonly<Record<string, string>>[]
): readonly AcceptedCommit[] {
  return contents.map((content, index) => ({
    id: `c${index + 1}`,
    targets: new Map(Object.entries(content).map(([cluster, text]) => [cluster, targetOf(text)])),
  }));
}

/** By default c1 and c2 with the contents a1 and a2 for cluster x, and no blocks. */
export function contextOf(context: Partial<MemberContext> = {}): MemberContext {
  return {
    membership: { kind: 'Member', stage: 'prod' },
    history: createCommitHistory(commitsOf({ x: 'a1' }, { x: 'a2' })),
    isHeadAccepted: false,
    unaccepted: new Map(),
    now: NOW,
    acknowledged: new Set(),
    ...context,
  };
}

export function clusterOf(spec: Partial<Cluster['spec']> = {}, sync?: ClusterSync): Cluster {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Cluster',
    metadata: { name: 'x' },
    spec: {
      environment: 'prod',
      paused: false,
      pauses: [],
      deletion: { protection: true, policy: 'Orphan', force: false, timeoutSeconds: 1800 },
      ...spec,
    },
    ...(sync ? { status: { conditions: [], sync } } : {}),
  };
}

export function reportOf(report: Partial<ClusterReport> = {}): ClusterReport {
  return {
    reachable: true,
    identity: 'Verified',
    commits: [],
    synced: { status: 'True', reason: 'Applied', message: 'every object matches git' },
    ...report,
  };
}

/** Reachable by default, and recorded as given. */
export function snapshotOf(sync?: ClusterSync, report: Partial<ClusterReport> = {}): ClusterSnapshot {
  return { cluster: clusterOf({}, sync), report: reportOf(report) };
}

export function memberOf(member: Partial<StageMember> = {}): StageMember {
  const sync = member.progress?.sync ?? {};
  return {
    name: 'x',
    snapshot: snapshotOf(sync),
    recorded: sync,
    progress: {
      state: 'NotStarted',
      sync,
      failing: false,
      dueChecks: [],
      reason: 'NothingYet',
      because: 'no commit assigned yet',
    },
    hasStarted: false,
    reachability: { state: 'Reachable' },
    block: undefined,
    ...member,
  };
}

/** Clusters x1, x2, … in these states. */
export function rolloutsOf(...states: readonly ClusterRolloutState[]): readonly ClusterRollout[] {
  return states.map((state, index) => ({
    member: memberOf({ name: `x${index + 1}` }),
    state,
    hasContent: true,
    digest: 'a1',
    reason: `Is${state}`,
    because: `it is ${state}`,
  }));
}

/** A Release of the commit with the recorded states of its stages, as `test=Proven prod=Soaking`. */
export function releaseOf(commit: string, stages = ''): Release {
  const states = stages
    .split(' ')
    .filter((word) => word !== '')
    .map((word) => {
      const [name = '', state = 'Pending'] = word.split('=');
      return { name, state: state as ReleaseStage['state'] };
    });
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Release',
    metadata: { name: `fleet-${commit}` },
    spec: {
      pipeline: 'fleet',
      commit,
      plan: { digest: `plan-${commit}`, clusters: 1, changed: 1, unexercised: 0 },
    },
    status: { conditions: [], stages: states },
  };
}
