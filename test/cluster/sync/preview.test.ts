import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectKey } from '../../../src/kube/objects/object-id.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { CLUSTER_SCOPE } from '../../../src/sync/apply/inventory/config-maps.ts';
import { summarizeSync } from '../../../src/sync/apply/report.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { hubScope } from '../../../src/sync/hub-scope.ts';
import { type LivePreviewOptions, previewDeletes, previewLive } from '../../../src/sync/preview/live.ts';
import { compareCommits, type UnitPreview } from '../../../src/sync/preview/preview.ts';
import type { Rendered } from '../../../src/sync/rendered.ts';
import { encryptedObject } from '../../kube/sops/encrypted-files.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { eventually } from '../../support/eventually.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import {
  commitNo,
  configMap,
  HUB,
  NEVER,
  startTargetCluster,
  startTestSync,
  targetOf,
} from './target-cluster.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startTargetCluster();
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

const same = configMap('same');
const removed = configMap('removed');

describe('previewLive', () => {
  it('S29 shows an encrypted object without its keys, and sends nothing of it to the server', async () => {
    const sync = await startTestSync(server.client);
    await sync.sync(targetOf(commitNo(1), { web: [same] }));
    await sync.close();
    const encrypted = encryptedObject('secret.yaml');
    const metadata = { ...encrypted.metadata, namespace: 'default' };
    const object = { ...encrypted, metadata };
    const [planned] = await preview(targetOf(commitNo(2), { web: [same, object] }));
    expect(planned?.changes).toEqual([
      {
        action: 'create',
        object: 'Secret default/db',
        source: 'fleet/main.ts:1',
        details: ['new in git', 'encrypted to 2 keys'],
      },
    ]);
  });

  it('S22 S29 shows no value that the cluster has of an object which the commit before encrypts', async () => {
    const sync = await startTestSync(server.client);
    await sync.sync(targetOf(commitNo(1), { web: [configMap('opened', { key: 'canary' })] }));
    await sync.close();
    const next = targetOf(commitNo(2), { web: [configMap('opened', { key: 'plain' })] });
    const encryptedBefore = new Set(['ConfigMap default/opened']);
    const { units } = await previewLive({ ...(await optionsFor(next, CLUSTER_SCOPE)), encryptedBefore });
    const details = ['1 field changes, not shown: the commit before encrypts the object'];
    expect(units[0]?.changes).toMatchObject([{ action: 'update', details }]);
    expect(JSON.stringify(units)).not.toContain('canary');
  });

  it('S22 predicts what the next sync does to each object, and shows no secret', async () => {
    const sync = await startTestSync(server.client);
    const first = targetOf(commitNo(1), {
      web: [same, removed, configMap('changed'), fixed('one'), secret('canary-before')],
    });
    await sync.sync(first);
    const next = targetOf(commitNo(2), {
      web: [
        same,
        configMap('changed', { key: 'new' }),
        fixed('two'),
        secret('canary-after'),
        configMap('fresh'),
      ],
    });

    const planned = await preview(next);
    const { plan, outcomes, pruned } = await sync.sync(next);
    await sync.close();

    const changes = planned.flatMap((unit) => unit.changes);
    expect(changes.map(({ action, object }) => `${action} ${object}`).toSorted()).toEqual([
      'create ConfigMap default/fresh',
      'delete ConfigMap default/removed',
      'replace ConfigMap default/fixed',
      'update ConfigMap default/changed',
      'update Secret default/token',
    ]);
    const written = plan.objects
      .filter(({ id }) => outcomes.get(objectKey(id))?.state === 'applied')
      .map(({ id }) => objectKey(id));
    const predicted = changes.filter(({ action }) => action !== 'delete').map(({ object }) => object);
    expect(written.toSorted()).toEqual(predicted.toSorted());
    expect(pruned.deleted).toBe(1);
    expect(JSON.stringify(planned)).not.toContain('canary');
  });

  it('S40 holds a replacement that only a change in the cluster causes, in the plan and in sync, and lets the revert through', async () => {
    const sync = await startTestSync(server.client);
    const first = targetOf(commitNo(1), { web: [replaceable('locked', 'one')] });
    const next = targetOf(commitNo(2), { web: [replaceable('locked', 'two')] });
    await sync.sync(first);
    expect((await preview(next)).flatMap(({ changes }) => changes)).toMatchObject([{ action: 'update' }]);
    const locked = { name: 'locked', namespace: 'default' };
    const before = await server.client.patch(CONFIG_MAPS, locked, {
      type: 'merge',
      body: { immutable: true },
    });

    const [unit] = await preview(next);
    expect(unit?.changes).toMatchObject([{ action: 'held' }]);
    expect(unit?.changes[0]?.details.join()).toContain('made it immutable in the cluster, and no commit did');
    const held = await sync.sync(next);
    expect(held.outcomes.get('ConfigMap default/locked')).toMatchObject({ reason: 'ReplacementHeld' });
    const kept = await server.client.get(CONFIG_MAPS, locked);
    expect([kept.metadata.uid, kept['data']]).toEqual([before.metadata.uid, { key: 'one' }]);

    const reverted = await sync.sync(targetOf(commitNo(3), { web: [replaceable('locked', 'one')] }));
    expect(reverted.outcomes.get('ConfigMap default/locked')?.state ?? 'applied').toBe('applied');
    await sync.sync(next);
    const { uid = '', resourceVersion = '' } = (await server.client.get(CONFIG_MAPS, locked)).metadata;
    await server.client.delete(CONFIG_MAPS, locked, { uid, resourceVersion });
    // Its watch tells sync later than the answer tells us.
    const created = await eventually(async () => {
      await sync.sync(next);
      const { items } = await server.client.list(CONFIG_MAPS, { namespace: 'default' });
      return items.find(({ metadata }) => metadata.name === 'locked');
    }, 'expected sync to create the ConfigMap again');
    await sync.close();
    expect(created['data']).toEqual({ key: 'two' });
  });

  it('shows no change for a cluster that matches git, and names a field that somebody changed', async () => {
    const sync = await startTestSync(server.client);
    const target = targetOf(commitNo(1), { web: [same] });
    await sync.sync(target);
    await sync.close();
    expect(await preview(target)).toEqual([]);
    const { metadata } = same;
    const patch = { type: 'merge', body: { data: { key: 'foreign' } } } as const;
    await server.client.patch(CONFIG_MAPS, metadata, patch);
    const [unit] = await preview(target);
    expect(unit?.changes).toMatchObject([{ action: 'update', details: ['~ data.key: "foreign" → "value"'] }]);
  });

  it.each<[name: string, fields: object, path: string]>([
    ['a number', { stringData: { p: 4815162342 } }, 'stringData.p'],
    ['a map', { stringData: { p: { q: 'canary-4815162342' } } }, 'stringData.p'],
    ['a list', { data: { p: ['canary-4815162342'] } }, 'data.p'],
    ['a text that is not base64', { data: { p: 'canary-4815162342' } }, 'illegal base64 data'],
    ['a field of a wrong name', { stringDate: { p: 'canary-4815162342' } }, 'Secret default/token'],
  ])(
    'SAF-11 names the path of %s in a Secret, but quotes the value in no message of plan, sync or log',
    async (_, fields, path) => {
      const { stringData: _none, ...rest } = secret('');
      const target = targetOf(commitNo(1), { web: [{ ...rest, ...fields }] });
      const planned = await preview(target);
      expect(planned[0]?.changes[0]?.action).toBe('refused');
      const sync = await startTestSync(server.client);
      const result = await sync.sync(target);
      await sync.close();
      const { work } = summarizeSync(target.digest, result);
      expect(work.state).toBe('Failed');
      expect(work.reason).toMatch(/^[A-Z]/);
      const { lines } = sync.context.log as MemoryLog;
      expect(lines.map(({ message }) => message)).toContain('object not applied');
      const texts = JSON.stringify([planned, work, lines]);
      expect(texts).not.toContain('4815162342');
      expect(texts).toContain(path);
    },
  );

  it.each([
    ['a cluster', CLUSTER_SCOPE],
    ['the hub', hubScope('fleet')],
  ])(
    'SAF-17 shows what sync holds in %s when a commit empties it, with the same digest in every mode',
    async (_, scope) => {
      const unit = `${scope}web`;
      const before = targetOf(commitNo(1), { [unit]: [same, removed] });
      const after = targetOf(commitNo(2), {});
      const sync = await startTestSync(server.client, HUB, scope);
      await sync.sync(before);
      const live = await preview(after, scope);
      const deletes = await previewDeletes(await optionsFor(after, scope));
      const { plan, pruned } = await sync.sync(after);
      await sync.close();
      const [byCommits] = compareCommits(renderedFrom(before), renderedFrom(after), after);
      const holds = plan.holds.map(({ planDigest, because }) => ({ planDigest, because }));
      expect(holds).toHaveLength(1);
      expect([pruned.deleted, holds[0]?.because]).toEqual([
        0,
        `unit ${unit} renders to nothing: 2 objects would be deleted`,
      ]);
      for (const units of [live, deletes, byCommits?.units ?? []]) {
        expect(units.map(({ unit: name, hold }) => ({ name, hold }))).toEqual([
          { name: unit, hold: holds[0] },
        ]);
      }
    },
  );

  it('shows what would be held and what the server would refuse', async () => {
    const sync = await startTestSync(server.client);
    await sync.sync(targetOf(commitNo(1), { web: [same] }));
    await sync.close();
    const bad = { ...configMap('bad'), dada: {} };
    const [other, web] = await preview(targetOf(commitNo(2), { web: [], other: [bad] }));
    expect(web?.hold?.because).toContain('unit web renders to nothing');
    expect(other?.changes).toMatchObject([
      { action: 'refused', details: [expect.stringContaining('.dada')] },
    ]);
  });
});

async function preview(target: SyncTarget, scope: string = CLUSTER_SCOPE): Promise<readonly UnitPreview[]> {
  return (await previewLive(await optionsFor(target, scope))).units;
}

function renderedFrom({ commit, digest, units }: SyncTarget): Rendered {
  return { commit, targets: units.length === 0 ? [] : [{ target: 'test', units, digest }] };
}

async function optionsFor(
  { commit, digest, units, budget, acknowledgements }: SyncTarget,
  scope: string,
): Promise<LivePreviewOptions> {
  const { client } = server;
  const limits = { budget, acknowledgements };
  return {
    client,
    clusterUID: await readClusterUID(client, NEVER),
    hub: HUB,
    scope,
    target: { target: 'test', units, digest },
    encryptedBefore: new Set(),
    commit,
    limits,
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
    signal: NEVER,
  };
}

function fixed(value: string): KubeObject {
  return { ...replaceable('fixed', value), immutable: true };
}

function replaceable(name: string, value: string): KubeObject {
  const { metadata, ...rest } = configMap(name, { key: value });
  return { ...rest, metadata: { ...metadata, annotations: { 'kubenode.dev/replace': 'Allowed' } } };
}

function secret(token: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'token', namespace: 'default' },
    stringData: { token },
  };
}
