import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../../src/api/generated/types.ts';
import type { ClusterReport } from '../../../../src/sync/cluster-report.ts';
import { unreadMachines } from '../../../../src/sync/health/machine-health.ts';
import type { ClusterPlan } from '../../../../src/sync/promote/cluster/plan.ts';
import { clusterStatus, ownStatus } from '../../../../src/sync/promote/cluster/status.ts';
import { later, NOW } from '../../../rollout/builders.ts';
import { clusterOf, memberOf, reportOf } from '../builders.ts';

const WORK = {
  digest: 'a1',
  state: 'Applied',
  reason: 'Applied',
  message: '',
  objects: { total: 1, applied: 1, pruned: 0, failed: 0 },
  failures: [],
} as const;
const HEALTH = { digest: 'a1', observedAt: NOW, answer: 'Settled', because: 'healthy' } as const;

interface PlanOptions {
  readonly state?: NonNullable<ClusterPlan['sync']['state']>;
  readonly report?: Partial<ClusterReport> | undefined;
  readonly status?: Cluster['status'];
}

function planWith(options: PlanOptions = {}): ClusterPlan {
  const { state = 'Proven', status } = options;
  const report = 'report' in options ? options.report : {};
  const cluster = { ...clusterOf(), ...(status ? { status } : {}) };
  const snapshot = {
    cluster,
    ...(report ? { report: reportOf({ work: WORK, health: HEALTH, ...report }) } : {}),
  };
  return {
    name: 'x',
    member: memberOf({ snapshot }),
    sync: { state, renderedDigest: 'a1' },
    target: { mode: 'Apply', pipeline: 'fleet', because: '' },
    starts: false,
    why: { reason: 'Reason', because: 'a sentence' },
  };
}

function condition(plan: ClusterPlan, type: string, unread?: string): string | undefined {
  const found = clusterStatus(plan, unread, NOW).conditions.find((each) => each.type === type);
  return found && `${found.status} ${found.reason}`;
}

describe('clusterStatus', () => {
  it('S13 tells the process that applies the content that it was proven before', () => {
    const plan = planWith();
    const assigned = (provenBefore: true | undefined): unknown =>
      clusterStatus(
        { ...plan, target: { ...plan.target, ...(provenBefore ? { provenBefore } : {}) } },
        undefined,
        NOW,
      ).assigned;
    expect(assigned(true)).toEqual({ pipeline: 'fleet', mode: 'Apply', provenBefore: true });
    expect(assigned(undefined)).toEqual({ pipeline: 'fleet', mode: 'Apply' });
  });

  it('S24 tells the process that applies the content that a person returned to it', () => {
    const plan = planWith();
    const returned = { ...plan, target: { ...plan.target, isRollback: true } } as const;
    expect(clusterStatus(returned, undefined, NOW).assigned).toMatchObject({ rollback: true });
    expect(clusterStatus(plan, undefined, NOW).assigned).not.toHaveProperty('rollback');
  });

  it.each<[type: string, name: string, options: PlanOptions, expected: string]>([
    ['Reachable', 'before the first report', { report: undefined }, 'Unknown NotTried'],
    ['Reachable', 'with an answer', {}, 'True Answered'],
    ['Reachable', 'without an answer', { report: { reachable: false } }, 'False NoAnswer'],
    ['Reachable', 'in a moment of load', { report: { overloadedSince: later(-29) } }, 'True Answered'],
    ['Reachable', 'while it refuses work', { report: { overloadedSince: later(-30) } }, 'False Overloaded'],
    [
      'Reachable',
      'with a kubeconfig that cannot be used',
      { report: { reachable: false, failure: { reason: 'Config', message: 'no context' } } },
      'False CredentialsInvalid',
    ],
    ['IdentityVerified', 'before the first report', { report: undefined }, 'Unknown NotSeen'],
    [
      'IdentityVerified',
      'of another cluster',
      { report: { identity: 'Mismatch' } },
      'False IdentityMismatch',
    ],
    ['Synced', 'in sync', {}, 'True Applied'],
    ['Synced', 'while unreachable', { report: { reachable: false } }, 'Unknown Stale'],
    [
      'Synced',
      'after work on other content',
      { report: { work: { ...WORK, digest: 'a2' } } },
      'Unknown NotLooked',
    ],
    ['Healthy', 'while healthy', {}, 'True Settled'],
    ['Healthy', 'while unreachable', { report: { reachable: false } }, 'Unknown NotSeen'],
    ['Progressing', 'in Soaking', { state: 'Soaking' }, 'True Soaking'],
    ['Progressing', 'in Pending', { state: 'Pending' }, 'False Pending'],
    ['Stalled', 'in Held', { state: 'Held' }, 'True Reason'],
    ['Stalled', 'in Applying', { state: 'Applying' }, 'False NotStalled'],
  ])('writes %s %s', (...[type, , options, expected]) => {
    expect(condition(planWith(options), type)).toBe(expected);
  });

  it('calls no cluster in sync while the repository cannot be read', () => {
    expect(condition(planWith(), 'Synced', 'the server answered 503')).toBe('Unknown Stale');
  });

  it('SAF-19 explains deletes that are held although the content is proven', () => {
    const work = { ...WORK, state: 'Held', reason: 'DeletesHeld', message: 'acknowledge unit app' } as const;
    const synced = { status: 'False', reason: 'DeletesHeld', message: work.message } as const;
    const plan = planWith({ report: { work, synced } });
    expect(clusterStatus(plan, undefined, NOW).waiting).toMatchObject({
      reason: 'DeletesHeld',
      message: 'acknowledge unit app',
    });
    expect([condition(plan, 'Stalled'), condition(plan, 'Synced')]).toEqual([
      'True DeletesHeld',
      'False DeletesHeld',
    ]);
    const older = planWith({ report: { work: { ...work, digest: 'a0' } } });
    expect(clusterStatus(older, undefined, NOW).waiting).toBeUndefined();
  });

  it('records how the machines are, as the cluster counts them', () => {
    const machines = { total: 6, ready: 3, unhealthy: 3 };
    const incidents = [{ reason: 'ZoneDark', message: 'zone b is dark' }] as const;
    const message = '3 of 6 machines are unhealthy';
    const unhealthy = { status: 'False', reason: 'MachinesUnhealthy', message, machines, incidents } as const;
    const plan = planWith({ report: { machineHealth: unhealthy } });
    const status = clusterStatus(plan, undefined, NOW);
    expect(status).toMatchObject({ machines, incidents });
    expect(condition(plan, 'MachinesReady')).toBe('False MachinesUnhealthy');

    const well = { status: 'True', reason: 'NoneUnhealthy', message: '', incidents: [] } as const;
    const after = clusterStatus(planWith({ status, report: { machineHealth: well } }), undefined, NOW);
    expect(after).not.toHaveProperty('incidents');
    expect(after).not.toHaveProperty('machines');
  });

  it.each<[string, Partial<ClusterReport>]>([
    ['does not answer', { reachable: false }],
    ['does not show them', { machineHealth: unreadMachines('may not list') }],
  ])('keeps the last counts of machines of a cluster that %s, and calls none of them ready', (_, report) => {
    const machines = { total: 6, ready: 6, unhealthy: 0 };
    const incidents = [{ reason: 'Stopped', message: 'by ada' }] as const;
    const plan = planWith({ status: { conditions: [], machines, incidents }, report });
    expect(clusterStatus(plan, undefined, NOW)).toMatchObject({ machines, incidents });
    expect(condition(plan, 'MachinesReady')).toMatch(/^Unknown /);
  });

  it('explains every state but Proven', () => {
    expect(clusterStatus(planWith(), undefined, NOW).waiting).toBeUndefined();
    expect(clusterStatus(planWith({ state: 'Soaking' }), undefined, NOW).waiting).toMatchObject({
      reason: 'Reason',
    });
  });

  it('pins the UID of the first verified contact, never that of a mismatch', () => {
    const status = { conditions: [], clusterUID: 'old', version: 'v1.30.0' };
    const mismatch = planWith({ status, report: { identity: 'Mismatch', clusterUID: 'new' } });
    const verified = planWith({ report: { clusterUID: 'new', version: 'v1.31.0' } });
    expect(clusterStatus(mismatch, undefined, NOW)).toMatchObject({ clusterUID: 'old', version: 'v1.30.0' });
    expect(clusterStatus(verified, undefined, NOW)).toMatchObject({ clusterUID: 'new', version: 'v1.31.0' });
  });
});

describe('ownStatus', () => {
  it('omits what hosting owns', () => {
    const time = {
      lastTransitionTime: NOW.toISOString(),
      message: '',
      reason: 'Ok',
      status: 'True',
    } as const;
    const own = { ...time, type: 'Synced' };
    const status = {
      conditions: [own, { ...time, type: 'EtcdReady' }],
      hosted: { rollbackVersion: 'v1.30.0' },
    };
    expect(ownStatus(status)).toEqual({ conditions: [own] });
    expect(ownStatus(undefined)).toBeUndefined();
  });

  it('carries the error of the connection', () => {
    const failure = { reason: 'Unreachable', message: 'connect ECONNREFUSED 127.0.0.1:6443' };
    const { conditions } = clusterStatus(planWith({ report: { reachable: false, failure } }), undefined, NOW);
    expect(conditions.find(({ type }) => type === 'Reachable')?.message).toBe(failure.message);
  });

  it('does not register a cluster that another Cluster is registered for', () => {
    const plan = planWith({ report: { clusterUID: 'x' }, status: { conditions: [], clusterUID: 'x' } });
    const { snapshot } = plan.member;
    const shared = { ...snapshot, shared: { kind: 'Duplicate', of: 'y', uid: 'x' } as const };
    expect(clusterStatus(plan, undefined, NOW).clusterUID).toBe('x');
    const duplicate = { ...plan, member: { ...plan.member, snapshot: shared } };
    expect(clusterStatus(duplicate, undefined, NOW).clusterUID).toBeUndefined();
  });
});
