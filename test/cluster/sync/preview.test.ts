import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { objectKey } from '../../../src/kube/objects/object-id.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { SyncTarget } from '../../../src/sync/apply/context.ts';
import { CLUSTER_SCOPE } from '../../../src/sync/apply/inventory/store.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { previewLive } from '../../../src/sync/preview/live.ts';
import type { UnitPreview } from '../../../src/sync/preview/preview.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { commitNo, configMap, freshSync, HUB, NEVER, startTarget, targetOf } from './bed.ts';

let server: ApiServer;
beforeAll(async () => {
  server = await startTarget();
  await server.keep();
});
beforeEach(() => server.wipe());
afterAll(() => server.stop());

const same = configMap('same');
const gone = configMap('gone');

describe('a plan against a live cluster', () => {
  it('says what the next pass then does, object by object, and shows no secret', async () => {
    const bed = await freshSync(server.client);
    const first = targetOf(commitNo(1), {
      web: [same, gone, configMap('changed'), fixed('one'), secret('canary-before')],
    });
    await bed.pass(first);
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
    const { plan, outcomes, pruned } = await bed.pass(next);
    await bed.close();

    const changes = planned.flatMap((unit) => unit.changes);
    expect(changes.map(({ action, object }) => `${action} ${object}`).toSorted()).toEqual([
      'create ConfigMap default/fresh',
      'delete ConfigMap default/gone',
      'replace ConfigMap default/fixed',
      'update ConfigMap default/changed',
      'update Secret default/token',
    ]);
    const written = plan.objects
      .filter(({ id }) => outcomes.get(objectKey(id))?.state === 'applied')
      .map(({ id }) => objectKey(id));
    const said = changes.filter(({ action }) => action !== 'delete').map(({ object }) => object);
    expect(written.toSorted()).toEqual(said.toSorted());
    expect(pruned.deleted).toBe(1);
    expect(JSON.stringify(planned)).not.toContain('canary');
  });

  it('says nothing of a cluster that is as in git, and names the field where somebody changed it', async () => {
    const bed = await freshSync(server.client);
    const target = targetOf(commitNo(1), { web: [same] });
    await bed.pass(target);
    await bed.close();
    expect(await preview(target)).toEqual([]);
    const { metadata } = same;
    const patch = { type: 'merge', body: { data: { key: 'foreign' } } } as const;
    await server.client.patch(CONFIG_MAPS, metadata, patch);
    const [unit] = await preview(target);
    expect(unit?.changes).toMatchObject([{ action: 'update', details: ['~ data.key: "foreign" → "value"'] }]);
  });

  it('shows what would be held and what the server refuses', async () => {
    const bed = await freshSync(server.client);
    await bed.pass(targetOf(commitNo(1), { web: [same] }));
    await bed.close();
    const bad = { ...configMap('bad'), dada: {} };
    const [other, web] = await preview(targetOf(commitNo(2), { web: [], other: [bad] }));
    expect(web?.hold?.because).toContain('unit web renders to nothing');
    expect(other?.changes).toMatchObject([
      { action: 'refused', details: [expect.stringContaining('.dada')] },
    ]);
  });
});

async function preview({
  commit,
  digest,
  units,
  budget,
  acknowledgements,
}: SyncTarget): Promise<UnitPreview[]> {
  const { client } = server;
  const limits = { budget, acknowledgements };
  return previewLive({
    client,
    clusterUID: await readClusterUID(client, NEVER),
    hub: HUB,
    scope: CLUSTER_SCOPE,
    target: { target: 'test', units, digest },
    commit,
    limits,
    clock: createSystemClock(),
    log: memoryLog(),
    random: () => 0.5,
    signal: NEVER,
  });
}

function fixed(value: string): KubeObject {
  const { metadata, ...rest } = configMap('fixed', { key: value });
  return {
    ...rest,
    immutable: true,
    metadata: { ...metadata, annotations: { 'kubenode.dev/replace': 'Allowed' } },
  };
}

function secret(token: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'token', namespace: 'default' },
    stringData: { token },
  };
}
