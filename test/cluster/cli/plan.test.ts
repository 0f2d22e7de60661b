import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS, PIPELINES } from '../../../src/api/generated/resources.ts';
import { previewOnClusters } from '../../../src/cli/plan/live.ts';
import { CLUSTER_SCOPE } from '../../../src/sync/apply/inventory/config-maps.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { hubScope } from '../../../src/sync/hub-scope.ts';
import { HUB_TARGET, type Rendered, type RenderedTarget } from '../../../src/sync/rendered.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { commitNo, configMap, NEVER, startTestSync, targetOf } from '../sync/target-cluster.ts';

const LIMITS = { budget: { maxObjects: 10, maxPercent: 20 }, acknowledgements: [] };
const KIND = { apiVersion: 'kubenode.dev/v1alpha1' };
const PIPELINE = {
  ...KIND,
  kind: 'Pipeline',
  metadata: { name: 'fleet' },
  spec: {
    source: { repository: 'https://git.example.com/fleet' },
    stages: [{ name: 'test', clusterSelector: { matchLabels: { 'kubenode.dev/environment': 'test' } } }],
  },
};
const CLUSTER = {
  ...KIND,
  kind: 'Cluster',
  metadata: { name: 'test' },
  spec: { environment: 'test', connection: { inCluster: true } },
};

/** A hub that is a cluster of its own fleet: both inventories are in one server. */
let installed: InstalledServer;
beforeAll(async () => {
  installed = await startInstalledServer();
  const { client } = installed.server;
  await client.create(CLUSTERS, CLUSTER);
  await client.create(PIPELINES, PIPELINE);
});
afterAll(() => installed?.stop());

function rendered(...targets: readonly RenderedTarget[]): Rendered {
  return { commit: commitNo(2), targets };
}

function contentOf(target: string, unit: string): RenderedTarget {
  const { digest, units } = targetOf(commitNo(1), { [unit]: [configMap(`${target}-${unit}`)] });
  return { target, digest, units };
}

describe('a plan on the clusters of a hub', () => {
  it('SAF-17 shows the units that sync holds, of clusters that a commit empties and of the hub itself', async () => {
    const { client, kubeconfig } = installed.server;
    const holds: string[] = [];
    for (const [scope, name] of [
      [CLUSTER_SCOPE, 'test-app'],
      [hubScope('fleet'), 'hub-app'],
    ] as const) {
      const sync = await startTestSync(client, await readClusterUID(client, NEVER), scope);
      await sync.sync(targetOf(commitNo(1), { [`${scope}app`]: [configMap(name)] }, LIMITS));
      const { plan } = await sync.sync(targetOf(commitNo(2), {}, LIMITS));
      await sync.close();
      holds.push(...plan.holds.map(({ unit, planDigest }) => `${unit} ${planDigest}`));
    }
    expect(holds).toHaveLength(2);

    const io = testIo({ env: { KUBECONFIG: kubeconfig } });
    const from = rendered(contentOf('test', 'app'), contentOf(HUB_TARGET, 'app'));
    const to = rendered({ ...contentOf(HUB_TARGET, 'app'), units: [] });
    // In the second plan the commit before has emptied them already: only the inventories know.
    for (const sides of [
      { from, to },
      { from: to, to },
    ]) {
      const { targets: previews } = await previewOnClusters(io, {}, { ...sides, limits: LIMITS });
      const found = previews.flatMap(({ units }) =>
        units.map(({ unit, hold }) => `${unit} ${hold?.planDigest}`),
      );
      expect(new Set(found)).toEqual(new Set(holds));
      expect(previews.find(({ target }) => target === 'test')?.by).toBe('live');
    }
  });
});
