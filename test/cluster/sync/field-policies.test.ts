/** Fields that git leaves to other clients, and managers whose fields git takes over, with a real API server. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { syncCluster } from '../../../src/sync/apply/sync-cluster.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { previewLive } from '../../../src/sync/preview/live.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import {
  commitNo,
  expectFullyApplied,
  NEVER,
  startTargetCluster,
  startTestSync,
  type TestSync,
  targetOf,
} from './target-cluster.ts';

const NAME = { name: 'web', namespace: 'default' };
const IGNORE_REPLICAS = {
  fieldPolicies: [{ unit: 'web', kind: 'Deployment', path: 'spec.replicas', policy: 'Ignore' }],
} as const;

let server: ApiServer;
let deployments: Resource;
beforeAll(async () => {
  server = await startTargetCluster();
  deployments = await server.client.resourceFor('apps/v1', 'Deployment');
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

function deployment(replicas: number, image = 'web:1'): KubeObject {
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image }] } };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: NAME,
    spec: { replicas, selector: { matchLabels: labels }, template },
  };
}

async function startSync(): Promise<TestSync> {
  const sync = await startTestSync(server.client);
  onTestFinished(() => sync.close());
  return sync;
}

function target(commit: number, object: KubeObject, more: Partial<SyncTarget> = {}): SyncTarget {
  return targetOf(commitNo(commit), { web: [object] }, more);
}

interface LiveSpec {
  readonly replicas: number;
  readonly image: string | undefined;
}

async function readSpec(): Promise<LiveSpec> {
  const { spec } = await server.client.get(deployments, NAME);
  const { replicas, template } = spec as {
    readonly replicas: number;
    readonly template: { readonly spec: { readonly containers: readonly { readonly image: string }[] } };
  };
  return { replicas, image: template.spec.containers[0]?.image };
}

async function scale(replicas: number, manager = 'autoscaler'): Promise<void> {
  const patch = { type: 'merge', body: { spec: { replicas } } } as const;
  await server.client.patch(deployments, NAME, patch, { fieldManager: manager });
}

/** Removes the owner labels, and waits until the watch of sync has noticed. */
async function removeLabels({ context }: TestSync): Promise<void> {
  const patch = { type: 'merge', body: { metadata: { labels: null } } } as const;
  await server.client.patch(deployments, NAME, patch, { fieldManager: 'somebody' });
  await expect.poll(() => context.live.get({ ...deployments, ...NAME })).toBe('absent');
}

/** Reconciles until sync has observed the edit: the watch needs a moment. */
async function syncUntil(sync: TestSync, desired: SyncTarget, expected: LiveSpec): Promise<void> {
  const synced = async (): Promise<LiveSpec> => {
    await sync.sync(desired);
    return readSpec();
  };
  await expect.poll(synced).toEqual(expected);
}

/** The actions that `kubenode plan` shows. */
async function preview(sync: TestSync, { commit, digest, units, ...limits }: SyncTarget): Promise<string[]> {
  const { units: previewed } = await previewLive({
    ...sync.context,
    clusterUID: await readClusterUID(server.client, NEVER),
    target: { target: 'test', digest, units },
    encryptedBefore: new Set(),
    commit,
    limits,
    random: () => 0.5,
  });
  return previewed.flatMap(({ changes }) => changes.map(({ action }) => action));
}

describe('an ignored field', () => {
  it('S10 is set when the object is created, belongs to others after that, and to git again after a revert', async () => {
    const sync = await startSync();
    await expectFullyApplied(sync, target(1, deployment(3), IGNORE_REPLICAS));
    expect(await readSpec()).toEqual({ replicas: 3, image: 'web:1' });

    // No other client has taken it over: it stays as it is, also when git changes it and other fields.
    await syncUntil(sync, target(2, deployment(9, 'web:2'), IGNORE_REPLICAS), {
      replicas: 3,
      image: 'web:2',
    });

    await scale(5);
    await syncUntil(sync, target(3, deployment(9, 'web:3'), IGNORE_REPLICAS), {
      replicas: 5,
      image: 'web:3',
    });
    expect(await preview(sync, target(3, deployment(9, 'web:3'), IGNORE_REPLICAS))).toEqual([]);
    expect(await preview(sync, target(3, deployment(9, 'web:3')))).toEqual(['update']);
    const restarted = await startSync();
    await expectFullyApplied(restarted, target(3, deployment(9, 'web:3'), IGNORE_REPLICAS));
    expect(await readSpec()).toEqual({ replicas: 5, image: 'web:3' });

    await syncUntil(restarted, target(4, deployment(9, 'web:3')), { replicas: 9, image: 'web:3' });
  });

  it('S10 keeps the newest value when another client changes it just before a write of sync', async () => {
    const sync = await startSync();
    await expectFullyApplied(sync, target(1, deployment(3), IGNORE_REPLICAS));
    const { client } = sync.context;
    let edits = 0;
    const racing: Client = {
      ...client,
      apply: async (resource, object, options) => {
        if (object.kind === 'Deployment') edits += 1;
        if (edits === 1) await scale(7);
        return client.apply(resource, object, options);
      },
    };
    const desired = target(2, deployment(3, 'web:2'), IGNORE_REPLICAS);
    const { outcomes } = await syncCluster({ ...sync.context, client: racing }, desired);
    expect(outcomes.get('apps/Deployment default/web')).toMatchObject({
      state: 'failed',
      reason: 'Conflict',
      retryable: true,
    });
    expect(await readSpec()).toEqual({ replicas: 7, image: 'web:1' });
    await syncUntil(sync, target(2, deployment(3, 'web:2'), IGNORE_REPLICAS), {
      replicas: 7,
      image: 'web:2',
    });
  });
});

describe('forceManagers', () => {
  it('S10 takes over the fields of named managers only, and names the others', async () => {
    const sync = await startSync();
    const { replicas: _, ...spec } = deployment(0)['spec'] as { readonly replicas: number };
    await expectFullyApplied(sync, target(1, { ...deployment(0), spec }));
    await scale(5, 'somebody');
    const declares = (more: Partial<SyncTarget>): SyncTarget => target(2, deployment(2), more);
    for (const forceManagers of [[], ['helm']]) {
      const { outcomes } = await sync.sync(declares({ forceManagers }));
      expect(outcomes.get('apps/Deployment default/web')).toMatchObject({
        state: 'failed',
        reason: 'FieldConflict',
        message: expect.stringMatching(/"somebody".*spec\.forceManagers/s) as string,
      });
      expect((await readSpec()).replicas).toBe(5);
    }
    const forceManagers = ['helm', 'somebody'];
    expect(await preview(sync, declares({ forceManagers: ['helm'] }))).toEqual(['refused']);
    expect(await preview(sync, declares({ forceManagers }))).toEqual(['update']);
    // Without its labels the object is taken back first, and its fields are taken over all the same.
    await removeLabels(sync);
    expect(await preview(sync, declares({ forceManagers: ['helm'] }))).toEqual(['refused']);
    expect(await preview(sync, declares({ forceManagers }))).toEqual(['update']);
    await expectFullyApplied(sync, declares({ forceManagers }));
    expect((await readSpec()).replicas).toBe(2);
  });
});
