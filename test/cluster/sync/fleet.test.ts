import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Cluster, Pipeline, Release } from '../../../src/api/generated/types.ts';
import { commitChecks } from '../../../src/cli/sync-checks.ts';
import { connect } from '../../../src/kube/connect.ts';
import { systemClock } from '../../../src/kube/system-clock.ts';
import { principalNamed } from '../../../src/local/principal.ts';
import { CLUSTERS, PIPELINES, RELEASES, SECRETS } from '../../../src/sync/hub/kinds.ts';
import { renderer } from '../../../src/sync/render/renderer.ts';
import { type Sync, startSync } from '../../../src/sync/sync.ts';
import { type FleetRepository, fleetRepository, PATIENT } from '../../support/fleet-repository.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { type Installed, startInstalled } from '../api/installed.ts';
import { CONFIG_MAPS } from './bed.ts';

const PATIENCE = { timeout: 120_000, interval: 200 };
const STAGES = ['test', 'prod'] as const;

const log = memoryLog();
let hub: Installed;
let clusters: Record<(typeof STAGES)[number], Installed>;
let git: FleetRepository;

beforeAll(async () => {
  const [one, test, prod] = await Promise.all([startInstalled(), startInstalled(), startInstalled()]);
  hub = one;
  clusters = { test, prod };
  for (const name of STAGES) {
    const kubeconfig = readFileSync(
      await clusters[name].server.kubeconfigFor(principalNamed('kubenode-sync')),
    );
    const metadata = { name: `${name}-kubeconfig`, namespace: 'kubenode-system' };
    await hub.server.client.create(SECRETS, {
      apiVersion: 'v1',
      kind: 'Secret',
      metadata,
      data: { kubeconfig: kubeconfig.toString('base64') },
    });
  }
  git = fleetRepository();
}, 300_000);
afterAll(async () => {
  await Promise.all([hub, clusters.test, clusters.prod].map((each) => each.stop()));
});

describe('sync', () => {
  it('brings commits through the stages, reverts without a soak and holds what is wrong', {
    timeout: 900_000,
  }, async () => {
    const first = commit('1', 'first');
    await hub.server.client.create(PIPELINES, pipeline());
    const sync = await running('one');

    // A first commit: staged, although its Clusters come with it.
    await allProven(first);
    expect(await versions()).toEqual(['1', '1']);
    expect(await stage(first, 'prod')).toMatchObject({ state: 'Proven', clusters: { total: 1, proven: 1 } });

    // A bump soaks in each stage; its revert does not.
    const bump = commit('2', 'bump');
    await allProven(bump);
    expect(await versions()).toEqual(['2', '2']);
    expect(Date.parse((await stage(bump, 'prod')).startedAt ?? '')).toBeGreaterThanOrEqual(
      Date.parse((await stage(bump, 'test')).provenAt ?? ''),
    );
    const revert = commit('1', 'revert');
    await allProven(revert);
    expect(await versions()).toEqual(['1', '1']);
    expect(soaked(bump)).toEqual(['test', 'prod']);
    expect(soaked(revert)).toEqual([]);

    // What does not render is held at that commit, with file and line; nothing is written on account of it.
    const broken = git.commit('broken', { 'clusters/test/web/objects.yaml': 'kind: [\n' });
    await expect.poll(async () => (await head()).verdict, PATIENCE).toBe('RenderFailed');
    expect((await head()).message).toContain('clusters/test/web/objects.yaml');
    expect((await head()).commit).toBe(broken);
    expect(await versions()).toEqual(['1', '1']);
    await sync.close();
  });
});

/** A sync with an identity of its own, as the user kubenode-sync. Closed at the latest when the test ends. */
async function running(name: string): Promise<Sync> {
  const kubeconfig = await hub.server.kubeconfigFor(principalNamed('kubenode-sync'));
  const sync = await startSync(
    {
      connectHub: () => connect({ kubeconfig }),
      identity: name,
      renderer: renderer({ limits: PATIENT }),
      checks: commitChecks(),
      gitFolder: tempFolder('git'),
      clock: systemClock(),
      log,
      random: () => 0.5,
    },
    new AbortController().signal,
  );
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= sync.close());
  onTestFinished(close);
  return { ...sync, close };
}

function pipeline(): Pipeline {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: {
      source: { repository: `file://${git.bare}`, ref: 'refs/heads/main', pollSeconds: 5 },
      stages: STAGES.map((name) => ({
        name,
        clusterSelector: { matchLabels: { 'kubenode.dev/environment': name } },
        soakSeconds: 2,
      })),
    },
  } as unknown as Pipeline;
}

/** The fleet as plain YAML: two Clusters, and a ConfigMap in each of them. Returns the commit. */
function commit(version: string, subject: string): string {
  const settings = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {version: "${version}"}\n`;
  return git.commit(subject, {
    'hub/clusters.yaml': STAGES.map(clusterYaml).join('---\n'),
    ...Object.fromEntries(STAGES.map((name) => [`clusters/${name}/web/objects.yaml`, settings])),
  });
}

async function allProven(wanted: string): Promise<void> {
  for (const name of STAGES) {
    await expect.poll(() => clusterState(name), PATIENCE).toMatchObject({ commit: wanted, state: 'Proven' });
  }
}

async function clusterState(name: string): Promise<{ commit?: string; state?: string; message?: string }> {
  const { items } = await hub.server.client.list<Cluster>(CLUSTERS);
  return items.find(({ metadata }) => metadata.name === name)?.status?.sync ?? {};
}

async function head(): Promise<{ commit?: string; verdict?: string; message?: string }> {
  return (await hub.server.client.get<Pipeline>(PIPELINES, { name: 'fleet' })).status?.head ?? {};
}

async function stage(
  of: string,
  name: string,
): Promise<NonNullable<NonNullable<Release['status']>['stages']>[number]> {
  const release = await hub.server.client.get<Release>(RELEASES, { name: `fleet-${of.slice(0, 12)}` });
  const found = release.status?.stages?.find((one) => one.name === name);
  if (!found) throw new Error(`no stage ${name} in ${release.metadata.name}`);
  return found;
}

/** The clusters that were seen to soak with a commit. */
function soaked(commitId: string): unknown[] {
  const moves = log.lines.filter(
    ({ message, fields }) => message === 'cluster moved' && fields['commit'] === commitId,
  );
  return moves.filter(({ fields }) => fields['state'] === 'Soaking').map(({ fields }) => fields['cluster']);
}

async function versions(): Promise<unknown[]> {
  const found = await Promise.all(
    STAGES.map((name) =>
      clusters[name].server.client.get(CONFIG_MAPS, { name: 'settings', namespace: 'default' }),
    ),
  );
  return found.map(({ data }) => (data as { version: string }).version);
}

function clusterYaml(name: string): string {
  return `apiVersion: kubenode.dev/v1alpha1\nkind: Cluster\nmetadata: {name: ${name}}\nspec:\n  environment: ${name}\n  connection: {credentialsRef: {name: ${name}-kubeconfig}}\n`;
}
