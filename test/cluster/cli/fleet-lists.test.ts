/** Lists on a hub whose clusters are the hub itself, one behind a Secret, and one that cannot be reached. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CLUSTERS } from '../../../src/api/generated/resources.ts';
import { ANNOTATION_SECRET_USE, MANAGER_SYNC, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { declareMachine, declareSet, declareVersion, run } from './rollout-fixture.ts';

let hub: InstalledServer;
let prod: InstalledServer;

beforeAll(async () => {
  [hub, prod] = await Promise.all([startInstalledServer(), startInstalledServer()]);
  for (const [{ server }, name] of [
    [hub, 'home-1'],
    [prod, 'prod-1'],
  ] as const) {
    await declareMachine(server.client, name);
    await declareVersion(server.client, 'web', '1.0.0');
    await declareSet(server.client, `${name}-set`, { web: 'web-1.0.0' });
  }
  const kubeconfig = readFileSync(prod.server.kubeconfig, 'utf8');
  await declareCluster('home', { inCluster: true });
  await declareWithSecret('prod', kubeconfig);
  await declareWithSecret('away', kubeconfig.replace(/server: .*/, 'server: https://127.0.0.1:1'));
});
afterAll(() => Promise.all([hub?.stop(), prod?.stop()]));

async function declareCluster(name: string, connection: object): Promise<void> {
  const spec = { environment: 'test', connection };
  const object = { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name }, spec };
  await hub.server.client.apply(CLUSTERS, object, { fieldManager: MANAGER_SYNC });
}

async function declareWithSecret(name: string, kubeconfig: string): Promise<void> {
  const annotations = { [ANNOTATION_SECRET_USE]: 'kubeconfig' };
  const metadata = { name: `${name}-kubeconfig`, namespace: NAMESPACE, annotations };
  const data = { kubeconfig: Buffer.from(kubeconfig).toString('base64') };
  await hub.server.client.create(SECRETS, { apiVersion: 'v1', kind: 'Secret', metadata, data });
  await declareCluster(name, { credentialsRef: { name: metadata.name } });
}

const AWAY = /^warning: cluster away is not shown: .*127\.0\.0\.1:1/m;

describe('lists on the hub', { timeout: 180_000 }, () => {
  it.each<[string, readonly string[]]>([
    ['machine', ['home      home-1', 'prod      prod-1']],
    ['rollout', ['home      home-1-set', 'prod      prod-1-set']],
    ['component', ['home      web', 'prod      web']],
  ])('%s list shows all clusters of the fleet, and names what did not answer', async (kind, rows) => {
    const { exitCode, stdout, stderr } = await run(hub, kind, 'list');
    expect(stdout).toMatch(/^CLUSTER {3}/m);
    for (const row of rows) expect(stdout).toContain(`\n${row}`);
    expect([exitCode, stderr]).toEqual([69, expect.stringMatching(AWAY)]);
  });

  it('machine list names the cluster of each machine for programs', async () => {
    const { stdout } = await run(hub, 'machine', 'list', '-o', 'json');
    const { total, machines } = JSON.parse(stdout) as {
      total: number;
      machines: { cluster: string; name: string }[];
    };
    expect([total, machines.map(({ cluster, name }) => `${cluster}/${name}`)]).toEqual([
      2,
      ['home/home-1', 'prod/prod-1'],
    ]);
  });

  it('remedy list has no jobs, and still names what did not answer', async () => {
    const { exitCode, stdout, stderr } = await run(hub, 'remedy', 'list');
    expect([exitCode, stdout, stderr]).toEqual([69, 'no repair jobs\n', expect.stringMatching(AWAY)]);
  });

  it('machine list of a cluster that is not a hub has no column for it, and ends with 0', async () => {
    const { exitCode, stdout, stderr } = await run(prod, 'machine', 'list');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout).toContain('\nMACHINE ');
    expect(stdout).not.toContain('CLUSTER');
  });
});
