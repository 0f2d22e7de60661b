/** Lists on a hub whose clusters are the hub itself, one behind a Secret, one that cannot be reached, and one without its Secret. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { CLUSTERS, DEFENDER_POLICIES } from '../../../src/api/generated/resources.ts';
import type { DefenderPolicy } from '../../../src/api/generated/types.ts';
import { ANNOTATION_SECRET_USE, MANAGER_SYNC, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { tempFolder } from '../../support/temp.ts';
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
  await declareCluster('new', { credentialsRef: { name: 'missing' } });
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

/** What sync writes when it has connected. */
async function identify(name: string, clusterUID: string | undefined): Promise<void> {
  const status = { conditions: [], ...(clusterUID !== undefined && { clusterUID }) };
  const object = { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name }, status };
  const options = { fieldManager: MANAGER_SYNC, force: true, subresource: 'status' };
  await hub.server.client.apply(CLUSTERS, object, options);
}

/** With a second context, for the same server and user as its current one. */
function kubeconfigWithContext(name: string, file: string): string {
  const config = parse(readFileSync(file, 'utf8')) as { contexts: { name: string; context: object }[] };
  const [own] = config.contexts;
  const path = join(tempFolder('contexts'), 'kubeconfig');
  writeFileSync(path, stringify({ ...config, contexts: [...config.contexts, { ...own, name }] }));
  return path;
}

const { signal } = new AbortController();
const AWAY = /^warning: cluster away is not shown: .*127\.0\.0\.1:1/m;

describe('lists on the hub', () => {
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

  it('R25 stops all clusters of the fleet from the hub, names those that are not stopped, and resumes them', async () => {
    const switches = async (): Promise<readonly string[]> => {
      const found = await Promise.all(
        [hub, prod].map(({ server }) => server.client.list<DefenderPolicy>(DEFENDER_POLICIES)),
      );
      return found.flatMap(({ items }) =>
        items.map(({ spec: { killSwitch } }) => `${killSwitch.by}: ${killSwitch.reason}`),
      );
    };
    const ann = await hub.server.kubeconfigFor({ user: 'ann', groups: ['system:masters'] });
    const asAnn = { server: { ...hub.server, kubeconfig: ann } };
    const stopped = await run(asAnn, 'defender', 'stop', '--reason', 'bad image');
    expect(stopped.stdout).toMatch(/^stopped \(All\) in home, prod: /);
    expect(stopped.stderr).toMatch(/^warning: cluster away is NOT stopped: /m);
    expect(stopped.stderr).toMatch(/^warning: cluster new is NOT stopped: /m);
    expect([stopped.exitCode, await switches()]).toEqual([69, ['ann: bad image', 'ann: bad image']]);
    const again = await run(hub, 'defender', 'stop', '--reason', 'again');
    expect(again.stderr).toContain(
      'home: automation is stopped already; prod: automation is stopped already',
    );
    const resumed = await run(hub, 'defender', 'resume');
    expect(resumed.stdout).toBe('resumed in home, prod: every machine is evaluated again\n');
    expect(resumed.stderr).toMatch(/^warning: cluster away is NOT resumed: /m);
    expect([resumed.exitCode, await switches()]).toEqual([69, []]);
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

  describe('with a context that has the name of a cluster', () => {
    let contexts: Pick<InstalledServer, 'server'>;
    beforeAll(() => {
      contexts = {
        server: { ...hub.server, kubeconfig: kubeconfigWithContext('prod', hub.server.kubeconfig) },
      };
    });
    afterEach(() => identify('prod', undefined));

    const machines = async (): Promise<readonly string[]> => {
      const { stdout } = await run(contexts, 'machine', 'list', '-o', 'json');
      const found = JSON.parse(stdout) as { machines: { cluster: string; name: string }[] };
      return found.machines.map(({ cluster, name }) => `${cluster}/${name}`);
    };

    it('does not use it before the identity of the cluster is known', async () => {
      expect(await machines()).toEqual(['home/home-1', 'prod/prod-1']);
    });

    it('does not use it when it belongs to another cluster', async () => {
      await identify('prod', await readClusterUID(prod.server.client, signal));
      expect(await machines()).toEqual(['home/home-1', 'prod/prod-1']);
    });

    it('uses it when it belongs to this cluster', async () => {
      await identify('prod', await readClusterUID(hub.server.client, signal));
      expect(await machines()).toEqual(['home/home-1', 'prod/home-1']);
    });

    it('tells why it is not used where there is no Secret either', async () => {
      const { stderr } = await run(contexts, 'machine', 'list');
      expect(stderr).toMatch(
        /^warning: cluster new is not shown: .*missing.*; and a context new is not used before status\.clusterUID of Cluster new shows/m,
      );
    });
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
