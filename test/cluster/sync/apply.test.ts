import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { CONFIG_MAPS, NAMESPACES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectIdOf } from '../../../src/kube/objects/object-id.ts';
import { planDigestOf } from '../../../src/sync/judge/deletes.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { type Bed, commitNo, configMap, freshSync, marked, startTarget, targetOf } from './bed.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startTarget();
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

describe('a pass over a real cluster', () => {
  it('S7 sends exactly what was rendered, with its marks, and takes it back when git does', async () => {
    const bed = await sync();
    const policy: KubeObject = {
      apiVersion: 'networking.k8s.io/v1',
      kind: 'NetworkPolicy',
      metadata: { name: 'only-web', namespace: 'default' },
      spec: { podSelector: {}, ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }] }] },
    };
    const { outcomes } = await bed.pass(targetOf(commitNo(1), { web: [policy, configMap('a')] }));
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
    await bed.pass(targetOf(commitNo(2), { web: [configMap('a')] }));
    await expect(
      server.client.get(resource, { name: 'only-web', namespace: 'default' }),
    ).rejects.toMatchObject({ code: 'NotFound' });
  });

  it('S7 refuses a misspelt field with its path, and S8 applies the others all the same', async () => {
    const bed = await sync();
    const bad = { ...configMap('bad'), dada: { key: 'value' } };
    const { outcomes } = await bed.pass(targetOf(commitNo(1), { web: [bad, configMap('good')] }));
    expect(await marked(server.client)).toEqual(['good']);
    const failed = outcomes.get('ConfigMap default/bad');
    expect(failed).toMatchObject({ state: 'failed', retryable: false });
    expect(failed?.state === 'failed' && failed.message).toContain('.dada');
  });

  it('S8 applies 493 of 500 objects of which 7 are bad, and reports those 7', async () => {
    const bed = await sync();
    const objects = Array.from({ length: 500 }, (_, index) =>
      index % 72 === 0 ? { ...configMap(`c${index}`), spec: {} } : configMap(`c${index}`),
    );
    const { outcomes } = await bed.pass(targetOf(commitNo(1), { web: objects }));
    const states = [...outcomes.values()].map(({ state }) => state);
    expect(states.filter((state) => state === 'failed')).toHaveLength(7);
    expect(await marked(server.client)).toHaveLength(493);
  });

  it('S9 defines a kind and creates 100 objects of it in one pass', async () => {
    const bed = await sync();
    const widgets = Array.from({ length: 100 }, (_, index) => widget(`w${index}`));
    const { outcomes } = await bed.pass(
      targetOf(commitNo(1), {
        web: [...widgets, namespace('web'), widgetCrd(), configMap('inside', {}, 'web')],
      }),
    );
    expect([...outcomes.values()].filter(({ state }) => state !== 'applied')).toEqual([]);
    expect(outcomes.size).toBe(103);
    await bed.close();
  });

  it('S9 waits for a kind that somebody else defines, without holding up the rest', async () => {
    const bed = await sync();
    const target = targetOf(commitNo(1), { web: [widget('w'), configMap('a')] });
    const first = await bed.pass(target);
    expect(first.plan.objects.map(({ id, action }) => `${id.kind} ${action}`)).toEqual([
      'ConfigMap create',
      'Widget wait',
    ]);
    const crds = await server.client.resourceFor('apiextensions.k8s.io/v1', 'CustomResourceDefinition');
    await server.client.create(crds, widgetCrd());
    await expect
      .poll(async () => (await bed.pass(target)).outcomes.get('example.com/Widget w')?.state, {
        timeout: 20_000,
      })
      .toBe('applied');
  });

  it('writes nothing when all is as in git, also after a restart, and also where the server uses other words', async () => {
    const quota: KubeObject = {
      apiVersion: 'v1',
      kind: 'ResourceQuota',
      metadata: { name: 'q', namespace: 'default' },
      spec: { hard: { 'limits.cpu': '1000m' } },
    };
    const target = targetOf(commitNo(1), { web: [configMap('a'), quota] });
    const bed = await sync();
    await bed.pass(target);
    const again = await bed.pass(target);
    expect(again.outcomes.size).toBe(0);
    const restarted = await sync();
    const first = await restarted.pass(target);
    expect((await restarted.pass(target)).outcomes.size).toBe(0);
    // The words of the server are learned anew by one apply that changes nothing.
    expect([...first.outcomes.keys()]).toEqual(['ResourceQuota default/q']);
  });

  it('corrects an owned field, and leaves alone what git does not set', async () => {
    const bed = await sync();
    const target = targetOf(commitNo(1), { web: [configMap('a')] });
    await bed.pass(target);
    const body = { data: { key: 'foreign', more: 'theirs' } };
    await server.client.patch(
      CONFIG_MAPS,
      { name: 'a', namespace: 'default' },
      { type: 'merge', body },
      { fieldManager: 'somebody' },
    );
    await expect
      .poll(async () => (await bed.pass(target)).plan.objects[0]?.action, { timeout: 20_000 })
      .toBe('correct');
    const { data } = await server.client.get(CONFIG_MAPS, { name: 'a', namespace: 'default' });
    expect(data).toEqual({ key: 'value', more: 'theirs' });
  });

  it('names the other manager instead of taking over an object that was there before', async () => {
    await server.client.create(CONFIG_MAPS, configMap('a', { key: 'theirs' }), { fieldManager: 'somebody' });
    const { outcomes } = await (await sync()).pass(targetOf(commitNo(1), { web: [configMap('a')] }));
    const outcome = outcomes.get('ConfigMap default/a');
    expect(outcome).toMatchObject({ state: 'failed', reason: 'FieldConflict', retryable: false });
    expect(outcome?.state === 'failed' && outcome.message).toContain('somebody');
  });

  it('S4 never takes over or prunes what another hub owns', async () => {
    const other = await sync('99999999-0000-0000-0000-000000000000');
    await other.pass(targetOf(commitNo(1), { web: [configMap('theirs')] }));
    const ours = await sync();
    const { plan } = await ours.pass(
      targetOf(commitNo(2), { web: [configMap('theirs'), configMap('ours')] }),
    );
    expect(plan.objects.map(({ id, action }) => `${id.name} ${action}`)).toEqual([
      'ours create',
      'theirs wait',
    ]);
  });

  it('S4 spares an object that somebody made anew between plan and delete', async () => {
    const bed = await sync();
    await bed.pass(targetOf(commitNo(1), { web: [configMap('a'), configMap('b')] }));
    const client = server.client;
    const { metadata } = await client.get(CONFIG_MAPS, { name: 'a', namespace: 'default' });
    const racing = {
      ...bed.context.client,
      // Between our read and our delete another actor puts an object of the same name and marks in its place.
      delete: async (...args: Parameters<typeof client.delete>) => {
        await client.delete(CONFIG_MAPS, { name: 'a', namespace: 'default' }, { uid: metadata.uid ?? '' });
        await client.create(CONFIG_MAPS, {
          ...configMap('a'),
          metadata: { name: 'a', namespace: 'default', labels: metadata.labels ?? {} },
        });
        return client.delete(...args);
      },
    };
    Object.assign(bed.context, { client: racing });
    const { pruned } = await bed.pass(targetOf(commitNo(2), { web: [configMap('b')] }));
    expect(pruned).toMatchObject({
      deleted: 0,
      waiting: [{ object: 'ConfigMap default/a', reason: 'DeleteRefused' }],
    });
    expect(await marked(client)).toEqual(['a', 'b']);
  });

  it('S5 hands 50 objects over to another unit without deleting one', async () => {
    const objects = Array.from({ length: 50 }, (_, index) => configMap(`c${index}`));
    const bed = await sync();
    await bed.pass(targetOf(commitNo(1), { web: objects, other: [configMap('x')] }));
    const before = await uids(server);
    const { pruned } = await bed.pass(
      targetOf(commitNo(2), { web: [], other: [configMap('x'), ...objects] }),
    );
    expect(pruned).toMatchObject({ deleted: 0, waiting: [] });
    expect(await uids(server)).toEqual(before);
    expect([...bed.context.store.inventory().entries.values()].map(({ unit }) => unit)).toEqual(
      Array.from({ length: 51 }, () => 'other'),
    );
  });

  it('S4 deletes a namespace in two passes, and only when that is acknowledged', async () => {
    const bed = await sync();
    await bed.pass(targetOf(commitNo(1), { web: [namespace('web'), configMap('a')] }));
    const without = targetOf(commitNo(2), { web: [configMap('a')] });
    const held = await bed.pass(without);
    expect(held.plan.holds).toHaveLength(1);
    const planDigest = planDigestOf({ unit: 'web', deletes: [objectIdOf(namespace('web'))] });
    const acknowledged = { ...without, acknowledgements: [{ unit: 'web', planDigest }] };
    expect((await bed.pass(acknowledged)).pruned).toMatchObject({ marked: 1, deleted: 0 });
    await bed.pass(acknowledged);
    const { metadata } = await server.client.get(NAMESPACES, { name: 'web' });
    expect(metadata.deletionTimestamp).toBeDefined();
  });

  it('S11 replaces an object only where git allows it and the server calls the field immutable', async () => {
    const bed = await sync();
    await bed.pass(targetOf(commitNo(1), { web: [fixed('one', false)] }));
    const refused = await bed.pass(targetOf(commitNo(2), { web: [fixed('two', false)] }));
    expect(refused.outcomes.get('ConfigMap default/fixed')).toMatchObject({
      state: 'failed',
      retryable: false,
    });
    await bed.pass(targetOf(commitNo(3), { web: [fixed('two', true)] }));
    const { data } = await server.client.get(CONFIG_MAPS, { name: 'fixed', namespace: 'default' });
    expect(data).toEqual({ key: 'two' });
  });

  it('of two syncs that both think they may write, the second one finds out by the inventory', async () => {
    const one = await sync();
    const two = await sync();
    await one.pass(targetOf(commitNo(1), { web: [configMap('a')] }));
    await expect(two.pass(targetOf(commitNo(2), { web: [configMap('b')] }))).rejects.toMatchObject({
      code: 'AlreadyExists',
    });
    expect(await marked(server.client)).toEqual(['a']);
  });
});

async function sync(hub?: string): Promise<Bed> {
  const bed = await freshSync(server.client, hub);
  onTestFinished(() => bed.close());
  return bed;
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
