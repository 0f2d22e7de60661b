/** Units in order with a real API server: a unit is written when those that it depends on are ready, by what a watch reports. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { ANNOTATION_DEPENDS_ON } from '../../../src/api/names.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { byCode } from '../../../src/kube/objects/digest.ts';
import { listAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type ClusterWorker, createClusterWorker } from '../../../src/sync/apply/cluster-worker.ts';
import { applyPolicyOf } from '../../../src/sync/hub/pipeline/apply-policy.ts';
import type { RenderedTarget } from '../../../src/sync/rendered.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { HELD } from '../../sync/apply/fixtures.ts';
import { PromotionSimulation } from '../../sync/promote/simulation/simulation.ts';
import {
  commitNo,
  configMap,
  expectFullyApplied,
  HUB,
  ownedConfigMaps,
  startTargetCluster,
  startTestSync,
  type TestSync,
  targetOf,
} from './target-cluster.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startTargetCluster();
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

async function startSync(): Promise<TestSync> {
  const sync = await startTestSync(server.client);
  onTestFinished(() => sync.close());
  return sync;
}

function after(unit: string, object: KubeObject): KubeObject {
  return { ...object, metadata: { ...object.metadata, annotations: { [ANNOTATION_DEPENDS_ON]: unit } } };
}

/** A workload that no controller of this server runs: it is ready when the test reports so. */
function deployment(name: string): KubeObject {
  const labels = { app: name };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'a', image: 'a:1' }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, namespace: 'default' },
    spec: { replicas: 1, selector: { matchLabels: labels }, template },
  };
}

/** Only an expression tells whether it is healthy: its controller reports no condition. */
function cronJob(name: string): KubeObject {
  const containers = [{ name: 'a', image: 'a:1' }];
  const template = { spec: { template: { spec: { containers, restartPolicy: 'Never' } } } };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name, namespace: 'default' },
    spec: { schedule: '0 3 * * *', jobTemplate: template },
  };
}

async function reportReady(name: string): Promise<void> {
  const resource = await server.client.resourceFor('apps/v1', 'Deployment');
  const counts = { replicas: 1, updatedReplicas: 1, readyReplicas: 1, availableReplicas: 1 };
  const since = '2030-01-01T00:00:00Z';
  const times = { lastTransitionTime: since, lastUpdateTime: since, message: '' };
  const conditions = [
    { type: 'Progressing', status: 'True', reason: 'NewReplicaSetAvailable', ...times },
    { type: 'Available', status: 'True', reason: 'MinimumReplicasAvailable', ...times },
  ];
  const body = { status: { observedGeneration: 1, ...counts, conditions } };
  await server.client.patch(
    resource,
    { name, namespace: 'default' },
    { type: 'merge', body },
    {
      subresource: 'status',
    },
  );
}

const BUDGET = { maxObjects: 1000, maxPercent: 100 };

/** A worker with its own watches and the policy of a Pipeline, as sync runs one for each cluster. */
function startWorker(content: RenderedTarget, commit: string, spec: object = {}): ClusterWorker {
  const { pipeline } = new PromotionSimulation();
  const policy = { ...pipeline, spec: { ...pipeline.spec, deleteBudget: BUDGET, ...spec } };
  const worker = createClusterWorker({
    cluster: 'test',
    hub: HUB,
    scope: '',
    connect: (fence) => connect({ kubeconfig: server.kubeconfig, fence }),
    pinnedUID: () => undefined,
    lease: HELD,
    policy: () => applyPolicyOf(policy),
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
    onReport: () => undefined,
  });
  onTestFinished(() => worker.close());
  worker.setTarget({
    mode: 'Apply',
    commit,
    digest: content.digest,
    pipeline: 'fleet',
    because: 'test',
    content: async () => content,
  });
  return worker;
}

function chain(length: number): Record<string, readonly KubeObject[]> {
  const names = Array.from({ length }, (_, index) => `u-${index}`);
  const objects = names.map((name, index) =>
    index === 0 ? configMap(name) : after(names[index - 1] ?? '', configMap(name)),
  );
  return Object.fromEntries(names.map((name, index) => [name, objects.slice(index, index + 1)]));
}

function unitsWith(value: string): Record<string, readonly KubeObject[]> {
  return { db: [deployment('db')], web: [after('db', configMap('web', { key: value }))] };
}

function kept(unit: string): KubeObject {
  return configMap(`keep-${unit}`);
}

describe('units in order on a real API server', () => {
  it('S13 writes a chain of 10 units that are ready at once in one reconcile, in their order', async () => {
    const sync = await startSync();
    const { outcomes } = await sync.sync(targetOf(commitNo(1), chain(10)));
    expect([...outcomes.keys()]).toEqual(Array.from({ length: 10 }, (_, n) => `ConfigMap default/u-${n}`));
    await expectFullyApplied(sync, targetOf(commitNo(1), chain(10)));
  });

  it('S13 deletes the objects of a chain from its end, also when git does not declare the order any more', async () => {
    const sync = await startSync();
    const units = Object.entries(chain(3));
    const both = units.map(([unit, objects]) => [unit, [...objects, kept(unit)]] as const);
    await sync.sync(targetOf(commitNo(1), Object.fromEntries(both)));
    const rest = targetOf(commitNo(2), Object.fromEntries(units.map(([unit]) => [unit, [kept(unit)]])));
    const left: (readonly string[])[] = [];
    for (let round = 0; round < 3; round += 1) {
      const { pruned } = await sync.sync(rest);
      left.push(pruned.waiting.map(({ object, message }) => `${object}: ${message}`).toSorted(byCode));
    }
    const first = 'deleted after ConfigMap default/u-2 of unit u-2, which depends on unit';
    expect(left).toEqual([
      [`ConfigMap default/u-0: ${first} u-0`, `ConfigMap default/u-1: ${first} u-1`],
      ['ConfigMap default/u-0: deleted after ConfigMap default/u-1 of unit u-1, which depends on unit u-0'],
      [],
    ]);
    await expectFullyApplied(sync, rest);
  });

  it('S13 starts a unit when the watch reports its dependency as ready, and reports until then what it waits for', async () => {
    const units = { db: [deployment('db')], web: [after('db', configMap('web'))] };
    const worker = startWorker({ target: 'test', ...targetOf(commitNo(1), units) }, commitNo(1));
    await expect.poll(() => worker.report().work?.reason).toBe('UnitNotReady');
    expect(worker.report().work).toMatchObject({
      state: 'Applying',
      objects: { total: 2, applied: 1, failed: 0 },
      blocker: { kind: 'Deployment', name: 'db', namespace: 'default' },
      message: expect.stringContaining('unit web waits for unit db: Deployment default/db') as string,
    });
    expect(await ownedConfigMaps(server.client)).toEqual([]);
    await reportReady('db');
    // A retry would come after the longest time between two contacts with the cluster, 15 s.
    await expect.poll(() => worker.report().work?.state).toBe('Applied');
    expect(await ownedConfigMaps(server.client)).toEqual(['web']);
  });

  it('S14 starts a unit when the expression of the Pipeline finds its dependency healthy', async () => {
    const units = { backup: [cronJob('backup')], web: [after('backup', configMap('web'))] };
    const healthy = 'has(self.status.lastSuccessfulTime)';
    const spec = { healthExpressions: [{ group: 'batch', kind: 'CronJob', healthy }] };
    const worker = startWorker({ target: 'test', ...targetOf(commitNo(1), units) }, commitNo(1), spec);
    await expect.poll(() => worker.report().work?.reason).toBe('UnitNotReady');
    expect(worker.report().work).toMatchObject({ blocker: { kind: 'CronJob', name: 'backup' } });
    expect(await ownedConfigMaps(server.client)).toEqual([]);
    const resource = await server.client.resourceFor('batch/v1', 'CronJob');
    const body = { status: { lastSuccessfulTime: '2030-01-01T00:00:00Z' } };
    const backup = { name: 'backup', namespace: 'default' };
    await server.client.patch(resource, backup, { type: 'merge', body }, { subresource: 'status' });
    await expect.poll(() => worker.report().work?.state).toBe('Applied');
    expect(await ownedConfigMaps(server.client)).toEqual(['web']);
  });

  it('S13 lets a revert of a unit pass that exists, although its dependency is not ready', async () => {
    const sync = await startSync();
    await sync.sync(targetOf(commitNo(1), unitsWith('good')));
    await reportReady('db');
    await expect
      .poll(async () => (await sync.sync(targetOf(commitNo(1), unitsWith('good')))).plan.waitingUnits)
      .toBeUndefined();
    const resource = await server.client.resourceFor('apps/v1', 'Deployment');
    const db = { name: 'db', namespace: 'default' };
    const patch = { type: 'merge', body: { status: { conditions: [] } } } as const;
    await server.client.patch(resource, db, patch, { subresource: 'status' });
    const reportsConditions = (): unknown => {
      const found = sync.context.live.get({ ...resource, ...db });
      return listAt(found, 'status', 'conditions').length;
    };
    await expect.poll(reportsConditions).toBe(0);
    const { plan } = await sync.sync(targetOf(commitNo(2), unitsWith('bad')));
    expect(plan.waitingUnits?.map(({ unit }) => unit)).toEqual(['web']);
    await sync.sync({ ...targetOf(commitNo(3), unitsWith('better')), provenBefore: true });
    const web = await server.client.get(CONFIG_MAPS, { name: 'web', namespace: 'default' });
    expect(web['data']).toEqual({ key: 'better' });
  });

  it('S14 does not let 100 units that never become healthy delay 100 healthy ones', async () => {
    const sync = await startSync();
    const pairs = Array.from({ length: 100 }, (_, n) => String(n).padStart(3, '0'));
    const sick = pairs.flatMap((n): [string, KubeObject[]][] => [
      [`a-${n}`, [deployment(`sick-${n}`)]],
      [`b-${n}`, [after(`a-${n}`, configMap(`never-${n}`))]],
    ]);
    const well = pairs.flatMap((n): [string, KubeObject[]][] => [
      [`c-${n}`, [configMap(`base-${n}`)]],
      [`d-${n}`, [after(`c-${n}`, configMap(`well-${n}`))]],
    ]);
    const { plan } = await sync.sync(targetOf(commitNo(1), Object.fromEntries([...sick, ...well])));
    const found = await ownedConfigMaps(server.client);
    expect(found).toEqual(pairs.flatMap((n) => [`base-${n}`]).concat(pairs.map((n) => `well-${n}`)));
    expect(plan.waitingUnits?.length).toBe(100);
    // The reconcile ended: no request and no worker waits for the others.
    expect(plan.waitingUnits?.every(({ unit }) => unit.startsWith('b-'))).toBe(true);
  });
});
