import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Client } from '../../../src/kube/client/client.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../src/kube/objects/object-id.ts';
import { planDigestOf } from '../../../src/sync/judge/delete-budget.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { createTestRenderer } from '../../support/fleet-repository.ts';
import {
  commitNo,
  configMap,
  expectFullyApplied,
  ownedConfigMaps,
  startTargetCluster,
  startTestSync,
  type TestSync,
  targetOf,
} from './target-cluster.ts';

const renders = createTestRenderer();
let server: ApiServer;
beforeAll(async () => {
  server = await startTargetCluster();
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

describe('syncCluster on a real API server', () => {
  it('S7 sends exactly what was rendered with owner labels, and deletes it when git removes it', async () => {
    const sync = await startSync();
    const policy: KubeObject = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'only-web', namespace: 'default' },
      spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }] },
    };
    const { outcomes } = await sync.sync(targetOf(commitNo(1), { web: [policy, configMap('a')] }));
    expect([...outcomes.values()].map(({ state }) => state)).toEqual(['applied', 'applied']);
    const resource = await server.client.resourceFor('networking.k8s.io/v1', 'NetworkPolicy');
    const live = await server.client.get(resource, { name: 'only-web', namespace: 'default' });
    expect(live['spec']).toMatchObject({
      ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }],
    });
    expect(live.metadata.labels).toMatchObject({ 'kubenode.dev/unit': 'web' });
    expect(live.metadata.annotations).toMatchObject({
      'kubenode.dev/commit': commitNo(1),
      'kubenode.dev/source': 'fleet/main.ts:1',
    });
    await sync.sync(targetOf(commitNo(2), { web: [configMap('a')] }));
    await expect(
      server.client.get(resource, { name: 'only-web', namespace: 'default' }),
    ).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('S7 sends the add-ons of the example fleet, which the server accepts as they are', async () => {
    const sync = await startSync();
    const { targets } = await renders.folder({ folder: process.cwd() });
    const units = targets.find(({ target }) => target === 'test')?.units ?? [];
    const addons = units.find(({ unit }) => unit === 'addons')?.objects.map(({ object }) => object) ?? [];
    const { outcomes } = await sync.sync(targetOf(commitNo(1), { addons }));
    expect([...outcomes].filter(([, { state }]) => state !== 'applied')).toEqual([]);
    expect(outcomes.size).toBe(10);
    const again = await sync.sync(targetOf(commitNo(2), { addons }));
    expect(again.outcomes.size).toBe(0);
  });

  it('S7 refuses a misspelt field with its path, and S8 applies the other objects', async () => {
    const sync = await startSync();
    const bad = { ...configMap('bad'), dada: { key: 'value' } };
    const { outcomes } = await sync.sync(targetOf(commitNo(1), { web: [bad, configMap('good')] }));
    expect(await ownedConfigMaps(server.client)).toEqual(['good']);
    const failed = outcomes.get('ConfigMap default/bad');
    expect(failed).toMatchObject({ state: 'failed', retryable: false });
    expect(failed?.state === 'failed' && failed.message).toContain('.dada');
  });

  it('S8 applies 493 of 500 objects when 7 are invalid, and reports those 7', async () => {
    const sync = await startSync();
    const objects = Array.from({ length: 500 }, (_, index) =>
      index % 72 === 0 ? { ...configMap(`c${index}`), spec: {} } : configMap(`c${index}`),
    );
    const { outcomes } = await sync.sync(targetOf(commitNo(1), { web: objects }));
    const states = [...outcomes.values()].map(({ state }) => state);
    expect(states.filter((state) => state === 'failed')).toHaveLength(7);
    expect(await ownedConfigMaps(server.client)).toHaveLength(493);
  });

  it('S9 applies a CRD and creates 100 objects of its kind in one reconcile', async () => {
    const sync = await startSync();
    const widgets = Array.from({ length: 100 }, (_, index) => widget(`w${index}`));
    const { outcomes } = await sync.sync(
      targetOf(commitNo(1), {
        web: [...widgets, namespace('web'), widgetCrd(), configMap('inside', {}, 'web')],
      }),
    );
    expect([...outcomes.values()].filter(({ state }) => state !== 'applied')).toEqual([]);
    expect(outcomes.size).toBe(103);
    await sync.close();
  });

  it('S9 waits for a kind that somebody else defines, without delaying other objects', async () => {
    const sync = await startSync();
    const target = targetOf(commitNo(1), { web: [widget('w'), configMap('a')] });
    const first = await sync.sync(target);
    expect(first.plan.objects.map(({ id, action }) => `${id.kind} ${action}`)).toEqual([
      'ConfigMap create',
      'Widget wait',
    ]);
    const crds = await server.client.resourceFor('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
    await server.client.create(crds, widgetCrd());
    await expect
      .poll(async () => (await sync.sync(target)).outcomes.get('example.com/Widget w')?.state)
      .toBe('applied');
  });

  it('SAF-3 applies a CRD without rights on its kind, and holds up only the objects of that kind', async () => {
    const sync = await startSync();
    forbid(sync, 'Widget');
    const good = targetOf(commitNo(1), { web: [widgetCrd(), configMap('a')] });
    await expectFullyApplied(sync, good);
    const { plan, outcomes } = await sync.sync(
      targetOf(commitNo(2), { web: [widgetCrd(), widget('w'), configMap('a'), configMap('b')] }),
    );
    const waiting = plan.objects.filter(({ action }) => action === 'wait');
    expect(waiting).toMatchObject([
      { id: { kind: 'Widget' }, because: expect.stringContaining('no rights') as string },
    ]);
    expect(outcomes.get('ConfigMap default/b')?.state).toBe('applied');
    expect(sync.context.live.staleReason()).toBeUndefined();
    await expectFullyApplied(sync, good);
    expect(sync.context.live.readError()).toBeUndefined();
  });

  it('writes nothing when everything matches git, also after a restart and after server-side normalization', async () => {
    const quota: KubeObject = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace: 'default' },
      spec: { hard: { 'limits.cpu': '1000m' } },
    };
    const target = targetOf(commitNo(1), { web: [configMap('a'), quota] });
    const sync = await startSync();
    await sync.sync(target);
    const again = await sync.sync(target);
    expect(again.outcomes.size).toBe(0);
    const restarted = await startSync();
    const first = await restarted.sync(target);
    expect((await restarted.sync(target)).outcomes.size).toBe(0);
    // After a restart, one apply without a change learns the normalized form again.
    expect([...first.outcomes.keys()]).toEqual(['ResourceQuota default/q']);
  });

  it('corrects an owned field, and leaves a field alone that git does not set', async () => {
    const sync = await startSync();
    const target = targetOf(commitNo(1), { web: [configMap('a')] });
    await sync.sync(target);
    const body = { data: { key: 'foreign', more: 'theirs' } };
    await server.client.patch(
      CONFIG_MAPS,
      { name: 'a', namespace: 'default' },
      { type: 'merge', body },
      { fieldManager: 'somebody' },
    );
    await expect.poll(async () => (await sync.sync(target)).plan.objects[0]?.action).toBe('correct');
    const { data } = await server.client.get(CONFIG_MAPS, { name: 'a', namespace: 'default' });
    expect(data).toEqual({ key: 'value', more: 'theirs' });
  });

  it('SAF-2 fails only the object that names a namespace wrongly, creates nothing for it, and can be reverted', async () => {
    const sync = await startSync();
    const good = targetOf(commitNo(1), { web: [configMap('b')] });
    const wrong = [
      { ...namespace('stray'), metadata: { name: 'stray', namespace: 'default' } },
      { ...configMap('nowhere'), metadata: { name: 'nowhere' } },
    ];
    const { outcomes } = await sync.sync(targetOf(commitNo(2), { web: [...wrong, configMap('b')] }));
    expect([...outcomes].map(([key, { state }]) => `${key} ${state}`).toSorted()).toEqual([
      'ConfigMap default/b applied',
      'ConfigMap nowhere failed',
      'Namespace default/stray failed',
    ]);
    await expect(server.client.get(NAMESPACES, { name: 'stray' })).rejects.toMatchObject({
      code: 'NotFound',
    });
    await expectFullyApplied(sync, good);
  });

  it('S4 does not delete an object that somebody recreated between plan and delete', async () => {
    const sync = await startSync();
    await sync.sync(targetOf(commitNo(1), { web: [configMap('a'), configMap('b')] }));
    const client = server.client;
    const { metadata } = await client.get(CONFIG_MAPS, { name: 'a', namespace: 'default' });
    const racing = {
      ...sync.context.client,
      // Between our read and our delete another actor replaces the object by one with the same name and labels.
      delete: async (...args: Parameters<typeof client.delete>) => {
        await client.delete(CONFIG_MAPS, { name: 'a', namespace: 'default' }, { uid: metadata.uid ?? '' });
        await client.create(CONFIG_MAPS, {
          ...configMap('a'),
          metadata: { name: 'a', namespace: 'default', labels: metadata.labels ?? {} },
        });
        return client.delete(...args);
      },
    };
    Object.assign(sync.context, { client: racing });
    const { pruned } = await sync.sync(targetOf(commitNo(2), { web: [configMap('b')] }));
    expect(pruned).toMatchObject({
      deleted: 0,
      waiting: [{ object: 'ConfigMap default/a', reason: 'DeleteRefused' }],
    });
    expect(await ownedConfigMaps(client)).toEqual(['a', 'b']);
  });

  it('S5 moves 50 objects to another unit without deleting one', async () => {
    const objects = Array.from({ length: 50 }, (_, index) => configMap(`c${index}`));
    const sync = await startSync();
    await sync.sync(targetOf(commitNo(1), { web: objects, other: [configMap('x')] }));
    const before = await uids(server);
    const { pruned } = await sync.sync(
      targetOf(commitNo(2), { web: [], other: [configMap('x'), ...objects] }),
    );
    expect(pruned).toMatchObject({ deleted: 0, waiting: [] });
    expect(await uids(server)).toEqual(before);
    expect([...sync.context.store.inventory().entries.values()].map(({ unit }) => unit)).toEqual(
      Array.from({ length: 51 }, () => 'other'),
    );
  });

  it('S4 deletes a namespace in two reconciles, and only when acknowledged', async () => {
    const sync = await startSync();
    await sync.sync(targetOf(commitNo(1), { web: [namespace('web'), configMap('a')] }));
    const without = targetOf(commitNo(2), { web: [configMap('a')] });
    const held = await sync.sync(without);
    expect(held.plan.holds).toHaveLength(1);
    const planDigest = planDigestOf({ unit: 'web', deletes: [objectIdOf(namespace('web'))] });
    const acknowledged = { ...without, acknowledgements: [{ unit: 'web', planDigest }] };
    expect((await sync.sync(acknowledged)).pruned).toMatchObject({ marked: 1, deleted: 0 });
    await sync.sync(acknowledged);
    const { metadata } = await server.client.get(NAMESPACES, { name: 'web' });
    expect(metadata.deletionTimestamp).toBeDefined();
  });

  it('S11 replaces an object only if git allows it and the server reports an immutable field', async () => {
    const sync = await startSync();
    await sync.sync(targetOf(commitNo(1), { web: [fixed('one', false)] }));
    const refused = await sync.sync(targetOf(commitNo(2), { web: [fixed('two', false)] }));
    expect(refused.outcomes.get('ConfigMap default/fixed')).toMatchObject({
      state: 'failed',
      retryable: false,
    });
    await sync.sync(targetOf(commitNo(3), { web: [fixed('two', true)] }));
    const { data } = await server.client.get(CONFIG_MAPS, { name: 'fixed', namespace: 'default' });
    expect(data).toEqual({ key: 'two' });
  });

  it('stops the second of two concurrent syncs by a conflict on the inventory', async () => {
    const one = await startSync();
    const two = await startSync();
    await one.sync(targetOf(commitNo(1), { web: [configMap('a')] }));
    await expect(two.sync(targetOf(commitNo(2), { web: [configMap('b')] }))).rejects.toMatchObject({
      code: 'AlreadyExists',
    });
    expect(await ownedConfigMaps(server.client)).toEqual(['a']);
  });
});

async function startSync(hub?: string): Promise<TestSync> {
  const sync = await startTestSync({ ...server.client }, hub);
  onTestFinished(() => sync.close());
  return sync;
}

/** What a server answers without a role for the kind. */
function forbid({ context }: TestSync, kind: string): void {
  const client = { ...context.client };
  const refuse = (asked: Resource): void => {
    if (asked.kind === kind) throw new KubeError('Forbidden', `no rights on ${kind}`, { status: 403 });
  };
  const refusing: Pick<Client, 'list' | 'pages'> = {
    list: async (resource, options) => {
      refuse(resource);
      return client.list(resource, options);
    },
    pages: (resource, options) => {
      refuse(resource);
      return client.pages(resource, options);
    },
  };
  Object.assign(context.client, refusing);
}

async function uids({ client }: ApiServer): Promise<(string | undefined)[]> {
  const { items } = await client.list(CONFIG_MAPS, {
    namespace: 'default',
    labelSelector: 'kubenode.dev/hub',
  });
  return items.map(({ metadata }) => metadata.uid);
}

function fixed(value: string, replace: boolean): KubeObject {
  const annotations = replace ? { annotations: { 'kubenode.dev/replace': 'Allowed' } } : {};
  const { metadata, ...rest } = configMap('fixed', { key: value });
  return { ...rest, immutable: true, metadata: { ...metadata, ...annotations } };
}

function namespace(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

function widget(name: string): KubeObject {
  return { apiVersion: 'example.com/v1', kind: 'Widget', metadata: { name }, spec: {} };
}

function widgetCrd(): KubeObject {
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } };
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'widgets.example.com' },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { kind: 'Widget', plural: 'widgets', singular: 'widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema }],
    },
  };
}
