import { describe, expect, it } from 'vitest';
import { schemaFailures } from '../../../src/api/validation/validate.ts';
import type { ClusterReport } from '../../../src/sync/cluster-report.ts';
import type { HeadReport } from '../../../src/sync/commits.ts';
import { ownPipelineStatus, sourceStatus } from '../../../src/sync/promote/pipeline-status.ts';
import { planPromotion } from '../../../src/sync/promote/plan.ts';
import { HOUR, MINUTE, PromotionSimulation } from './simulation/simulation.ts';

function statusOf(
  sim: PromotionSimulation,
  head: HeadReport = { verdict: 'Accepted' },
  changed: (report: ClusterReport, cluster: string) => ClusterReport = (report) => report,
) {
  const clusters = [...sim.clusters.values()].map((cluster) => ({
    cluster: cluster.object(),
    report: changed(cluster.report(sim.now), cluster.name),
  }));
  const { pipeline, now } = sim;
  const releases = [...sim.releases.values()];
  return planPromotion({ pipeline, clusters, releases, commits: sim.commits, now: new Date(now) }, head)
    .status;
}

function conditions(status: ReturnType<typeof statusOf>): Record<string, string> {
  return Object.fromEntries(
    status.conditions.map(({ type, status: value, reason }) => [type, `${value} ${reason}`]),
  );
}

describe('pipelineStatus', () => {
  it('is UpToDate once the head is proven in the last stage', () => {
    const sim = new PromotionSimulation();
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(MINUTE);
    expect(statusOf(sim)).toMatchObject({ phase: 'Promoting', waiting: { reason: 'Soaking' } });
    sim.run(2 * HOUR);
    const status = statusOf(sim);
    expect(status).toMatchObject({
      phase: 'UpToDate',
      clusters: { total: 3, proven: 3, failed: 0, unassigned: 0 },
    });
    expect(status.stages?.map(({ name, commit }) => `${name} ${commit}`)).toEqual([
      'test c1',
      'pre c1',
      'prod c1',
    ]);
  });

  describe('of a Pipeline with a webhook', () => {
    const head: HeadReport = { verdict: 'Rendering', webhook: {} };
    const { pipeline, now } = new PromotionSimulation();
    const source = { ...pipeline.spec.source, webhookSecretRef: { name: 'hook', key: 'secret' } };
    const withHook = { ...pipeline, spec: { ...pipeline.spec, source } };
    const status = sourceStatus(withHook, head, new Date(now));

    it('S25 has a condition for it, which goes with the webhook', () => {
      expect(conditions(status)['WebhookReady']).toBe('True Received');
      const removed = sourceStatus({ ...pipeline, status }, { verdict: 'Rendering' }, new Date(now));
      expect(conditions(removed)['WebhookReady']).toBeUndefined();
    });

    it('S25 leaves the time of the last webhook to its own field manager', () => {
      const webhook = { receivedAt: '2030-01-01T00:00:00Z' };
      const received = { ...withHook, status: { ...status, webhook } };
      expect(sourceStatus(received, head, new Date(now)).webhook).toBeUndefined();
    });
  });

  describe('of a Pipeline with commit statuses', () => {
    const { pipeline, now } = new PromotionSimulation();
    const source = { ...pipeline.spec.source, statusCredentialsRef: { name: 'status', key: 'token' } };
    const reporting = { ...pipeline, spec: { ...pipeline.spec, source } };
    const problem = { status: 'Unknown', reason: 'RateLimited', message: 'it limits the rate' } as const;
    const status = sourceStatus(
      reporting,
      { verdict: 'Rendering', commitStatus: { problem } },
      new Date(now),
    );

    it('S26 has a condition that tells why the host does not accept them, and goes with the reference', () => {
      expect(conditions(status)['CommitStatusReady']).toBe('Unknown RateLimited');
      const head: HeadReport = { verdict: 'Rendering', commitStatus: {} };
      const accepted = sourceStatus({ ...reporting, status }, head, new Date(now));
      expect(conditions(accepted)['CommitStatusReady']).toBe('True Accepted');
      const removed = sourceStatus({ ...pipeline, status }, { verdict: 'Rendering' }, new Date(now));
      expect(conditions(removed)['CommitStatusReady']).toBeUndefined();
    });

    it('S26 leaves the record of what was sent to its own field manager', () => {
      const recorded = { ...status, commitStatuses: { address: 'host' }, webhook: {} };
      const sent = { ...reporting, status: recorded };
      expect(sourceStatus(sent, { verdict: 'Rendering' }, new Date(now)).commitStatuses).toBeUndefined();
      expect(ownPipelineStatus(recorded)).toEqual(status);
      expect(ownPipelineStatus(undefined)).toBeUndefined();
    });

    it('S35 has a condition that tells what became of a failed commit, and goes with the field', () => {
      const spec = { ...pipeline.spec, onFailure: 'ProposeRevert' as const };
      const reverting = { ...pipeline, spec };
      const conditionOf = (reverts: HeadReport['reverts']): string | undefined => {
        const found: HeadReport = { verdict: 'Rendering', ...(reverts ? { reverts } : {}) };
        return conditions(sourceStatus(reverting, found, new Date(now)))['RevertReady'];
      };
      expect(conditionOf({ problem })).toBe('Unknown RateLimited');
      expect(conditionOf({ done: { reason: 'RevertProposed', message: 'merge it' } })).toBe(
        'True RevertProposed',
      );
      expect(conditionOf({})).toBe('True NoFailedStage');
      const made = sourceStatus(reverting, { verdict: 'Rendering', reverts: {} }, new Date(now));
      const stopping = { ...pipeline, spec: { ...spec, onFailure: 'Stop' as const }, status: made };
      const removed = sourceStatus(stopping, { verdict: 'Rendering' }, new Date(now));
      expect(conditions(removed)['RevertReady']).toBeUndefined();
      expect(ownPipelineStatus({ ...made, reverts: [] })).toEqual(made);
    });

    it('S22 has a condition that tells why pull requests have no plan, and goes with the field', () => {
      const planning = {
        ...pipeline,
        spec: { ...pipeline.spec, source: { ...source, planComments: { forks: false } } },
      };
      const failed = sourceStatus(
        planning,
        { verdict: 'Rendering', planComments: { problem } },
        new Date(now),
      );
      expect(conditions(failed)['PlanCommentsReady']).toBe('Unknown RateLimited');
      const head: HeadReport = { verdict: 'Rendering', planComments: {} };
      const accepted = sourceStatus({ ...planning, status: failed }, head, new Date(now));
      expect(conditions(accepted)['PlanCommentsReady']).toBe('True Accepted');
      const removed = sourceStatus(
        { ...reporting, status: accepted },
        { verdict: 'Rendering' },
        new Date(now),
      );
      expect(conditions(removed)['PlanCommentsReady']).toBeUndefined();
      expect(ownPipelineStatus({ ...accepted, planComments: { address: 'host' } })).toEqual(accepted);
    });
  });

  it.each<[verdict: HeadReport['verdict'], sourceReady: string, rendered: string | undefined]>([
    ['Accepted', 'True Accepted', 'True Rendered'],
    ['Rendering', 'True Rendering', 'Unknown Rendering'],
    ['NotDescendant', 'False NotDescendant', undefined],
    ['BadSignature', 'False BadSignature', undefined],
    ['RenderFailed', 'True Accepted', 'False RenderFailed'],
    ['Refused', 'True Accepted', 'False Refused'],
  ])('writes the conditions of a head that is %s', (verdict, sourceReady, rendered) => {
    const found = conditions(statusOf(new PromotionSimulation(), { verdict, message: 'why' }));
    expect([found['SourceReady'], found['Rendered']]).toEqual([sourceReady, rendered]);
  });

  it('FST-1 is Rendering, never UpToDate, while a head is not rendered', () => {
    const sim = new PromotionSimulation();
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(3 * HOUR);
    const head = { commit: 'c2', verdict: 'Rendering' } as const;
    const wait = { reason: 'Rendering', message: 'commit c2 is being rendered and checked' };
    const before = statusOf(sim);
    expect(before.phase).toBe('UpToDate');
    const status = statusOf(sim, head);
    expect(status).toMatchObject({ phase: 'Rendering', waiting: wait, head });
    expect(conditions(status)).toMatchObject({
      Promoted: 'False Rendering',
      Rendered: 'Unknown Rendering',
    });
    const recorded = { ...sim.pipeline, status: before };
    const report = sourceStatus(recorded, head, new Date(0));
    expect(report).toMatchObject({ phase: 'Rendering', waiting: wait });
    expect(conditions(report)).toMatchObject({ Promoted: 'False Rendering' });
    const unread = { ...head, unread: 'the connection was refused' };
    expect(statusOf(sim, unread)).toMatchObject({ phase: 'SourceFailed' });
  });

  it.each<[state: 'Held' | 'Failed', type: string]>([
    ['Held', 'Held'],
    ['Failed', 'Stalled'],
  ])('reports that the objects of the hub itself are %s', (state, type) => {
    const hub = { state, reason: 'DeletesHeld', message: 'protected objects would be deleted' };
    for (const status of [
      statusOf(new PromotionSimulation(), { verdict: 'Accepted', hub }),
      sourceStatus(new PromotionSimulation().pipeline, { verdict: 'Accepted', hub }, new Date(0)),
    ]) {
      expect(status.conditions.find((each) => each.type === type)).toMatchObject({
        status: 'True',
        reason: 'DeletesHeld',
        message: "the hub's own objects: protected objects would be deleted",
      });
    }
  });

  it('reports a first commit that does not render, before anything can be promoted', () => {
    const { pipeline } = new PromotionSimulation();
    const head = { commit: 'c1', verdict: 'RenderFailed', message: 'main.ts:3: broken' } as const;
    const status = sourceStatus(pipeline, head, new Date(0));
    expect(status).toMatchObject({
      phase: 'SourceFailed',
      head: { commit: 'c1', verdict: 'RenderFailed', message: 'main.ts:3: broken' },
      waiting: { reason: 'RenderFailed', message: 'main.ts:3: broken' },
    });
    const { apiVersion, kind, metadata, spec } = pipeline;
    const object = { apiVersion, kind, metadata, spec, status };
    expect(schemaFailures(object)).toEqual([]);
  });

  it('reports a commit that its checks refuse as Refused, not as a repository that failed', () => {
    const { pipeline } = new PromotionSimulation();
    const message =
      'NodeRemedier kernel-hang of test: spec.tests[0]: test "hung" failed [rules/kernel-hang.ts:12]';
    const head = { commit: 'c1', verdict: 'Refused', message } as const;
    expect(sourceStatus(pipeline, head, new Date(0))).toMatchObject({
      phase: 'Refused',
      waiting: { reason: 'Refused' },
    });
  });

  it('keeps what was recorded about stages and clusters while only the head is known', () => {
    const sim = new PromotionSimulation();
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(2 * HOUR);
    const before = statusOf(sim);
    const status = sourceStatus(
      { ...sim.pipeline, status: before },
      { verdict: 'Refused' },
      new Date(sim.now),
    );
    expect([status.stages, status.clusters]).toEqual([before.stages, before.clusters]);
  });

  it('SAF-19 shows a delete hold of a cluster that keeps its proof', () => {
    const sim = new PromotionSimulation();
    sim.push('c1', { '*': { app: 'v1' } });
    sim.run(3 * HOUR);
    const held = { state: 'Held', reason: 'DeletesHeld', message: 'acknowledge unit app' } as const;
    const status = statusOf(sim, undefined, (report, cluster) =>
      cluster === 'prod-1' && report.work ? { ...report, work: { ...report.work, ...held } } : report,
    );
    expect(status.clusters).toMatchObject({ proven: 3 });
    expect(status.phase).toBe('Held');
    expect(status.conditions.find(({ type }) => type === 'Held')).toMatchObject({
      status: 'True',
      message: 'prod-1: acknowledge unit app',
    });
  });

  it('does not know the head while the repository cannot be read', () => {
    const status = statusOf(new PromotionSimulation(), { verdict: 'Accepted', unread: 'connection refused' });
    expect(conditions(status)['SourceReady']).toBe('Unknown Stale');
  });

  it('tells why a repository is not opened, and keeps what was recorded about its head', () => {
    const { pipeline } = new PromotionSimulation();
    const read = sourceStatus(pipeline, { commit: 'c1', verdict: 'Refused', message: 'why' }, new Date(0));
    const unopened = { reason: 'CredentialsInvalid', message: 'Secret git-token does not permit it' };
    const head = { verdict: 'Accepted', unopened } as const;
    const status = sourceStatus({ ...pipeline, status: read }, head, new Date(0));
    expect(status).toMatchObject({
      head: { commit: 'c1', verdict: 'Refused', message: 'why' },
      waiting: unopened,
    });
    expect(conditions(status)).toMatchObject({
      SourceReady: 'False CredentialsInvalid',
      Rendered: 'False Refused',
    });
  });

  it.each<[name: string, change: (sim: PromotionSimulation) => void, expected: object]>([
    [
      'a spent failure budget',
      (sim) => sim.push('c1', { '*': { app: 'bad1' } }),
      { Stalled: 'True FailureBudgetSpent', Held: 'False NotPlanHeld' },
    ],
    [
      'a held plan',
      (sim) => {
        sim.cluster('test-1').trouble = 'Held';
        sim.push('c1', { '*': { app: 'v1' } });
      },
      { Stalled: 'False NotStalled', Held: 'True PlanHeld' },
    ],
    [
      'a blocked cluster',
      (sim) => {
        sim.cluster('test-1').identity = 'Mismatch';
        sim.push('c1', { '*': { app: 'v1' } });
      },
      { Stalled: 'True IdentityMismatch' },
    ],
  ])('reports %s', (_, change, expected) => {
    const sim = new PromotionSimulation();
    change(sim);
    sim.run(5 * MINUTE);
    expect(conditions(statusOf(sim))).toMatchObject(expected);
  });
});
