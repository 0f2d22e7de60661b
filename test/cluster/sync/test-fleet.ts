/** Sync with real API servers: a hub, two clusters and a repository of plain YAML. */
import { readFileSync } from 'node:fs';
import { expect, onTestFinished } from 'vitest';
import { CLUSTERS, PIPELINES, RELEASES } from '../../../src/api/generated/resources.ts';
import type { Cluster, Pipeline, Release } from '../../../src/api/generated/types.ts';
import { createPlanCommit } from '../../../src/cli/plan/hub-plan.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { CONFIG_MAPS, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type Sync, type SyncOptions, startSync } from '../../../src/sync/sync.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import {
  createFleetRepository,
  createTestRenderer,
  type FleetRepository,
} from '../../support/fleet-repository.ts';
import { type MemoryLog, memoryLog } from '../../support/memory-log.ts';
import { tempFolder } from '../../support/temp.ts';
import { startInstalledServer } from '../api/installed-server.ts';

export const STAGES = ['test', 'prod'] as const;
export type Stage = (typeof STAGES)[number];
/** The name of each Cluster. */
export type ClusterNames = Readonly<Record<Stage, string>>;

const NAMES: ClusterNames = { test: 'test', prod: 'prod' };

type ClusterSync = NonNullable<NonNullable<Cluster['status']>['sync']>;
type Head = NonNullable<NonNullable<Pipeline['status']>['head']>;
type StageStatus = NonNullable<NonNullable<Release['status']>['stages']>[number];

export type MoreOptions = Partial<SyncOptions>;

export interface TestFleet {
  readonly hub: ApiServer;
  readonly clusters: Record<Stage, ApiServer>;
  /** Of all syncs since the last reset. */
  log(): MemoryLog;
  /** Restores the initial state: no fleet, and an empty repository. */
  reset(): Promise<void>;
  /**
   * Starts a sync with this identity as the user kubenode-sync. It is closed when the test ends. It never gets a Lease that it
   * may not hold: another process is always faster.
   */
  sync(identity: string, mayHold?: (lease: string) => boolean, more?: MoreOptions): Promise<Sync>;
  /** Creates the Pipeline of the repository in the hub. */
  pipeline(url?: string): Promise<void>;
  /** Commits the fleet as plain YAML: two Clusters, each with a unit `web` that contains the version. Returns the commit. */
  commit(version: string, subject: string, names?: ClusterNames): string;
  commitFiles(subject: string, files: Readonly<Record<string, string | undefined>>): string;
  /** Since the last reset. */
  repository(): FleetRepository;
  allProven(commit: string): Promise<void>;
  state(cluster: string): Promise<Partial<ClusterSync>>;
  condition(cluster: Stage, type: string): Promise<{ status?: string; reason?: string; message?: string }>;
  head(): Promise<Partial<Head>>;
  stageOf(commit: string, name: Stage): Promise<StageStatus>;
  planOf(commit: string): Promise<Release['spec']['plan']>;
  /** The versions in the clusters. */
  versions(): Promise<unknown[]>;
  stop(): Promise<void>;
}

export async function startTestFleet(): Promise<TestFleet> {
  const [hub, test, prod] = await Promise.all([
    startInstalledServer(),
    startInstalledServer(),
    startInstalledServer(),
  ]);
  const clusters: Record<Stage, ApiServer> = { test: test.server, prod: prod.server };
  const { client } = hub.server;
  for (const name of STAGES) await client.create(SECRETS, await credentialsOf(name, clusters[name]));
  await hub.server.keep();
  let git: FleetRepository;
  let log = memoryLog();

  const fleet: TestFleet = {
    hub: hub.server,
    clusters,
    log: () => log,
    async reset() {
      await Promise.all([hub, test, prod].map(({ server }) => server.wipe()));
      git = createFleetRepository();
      log = memoryLog();
    },
    sync: async (identity, mayHold = () => true, more = {}) =>
      runningSync(await hub.server.kubeconfigFor(createPrincipal('kubenode-sync')), {
        identity,
        mayHold,
        log,
        more,
      }),
    async pipeline(url = `file://${git.bare}`) {
      await client.create(PIPELINES, pipelineOf(url));
    },
    commit: (version, subject, names = NAMES) => git.commit(subject, fleetFiles(version, names)),
    commitFiles: (subject, files) => git.commit(subject, files),
    repository: () => git,
    async allProven(commit) {
      const proven = { commit, state: 'Proven' };
      for (const name of STAGES) await expect.poll(() => fleet.state(name)).toMatchObject(proven);
    },
    state: async (name) => (await clusterNamed(name))?.status?.sync ?? {},
    condition: async (name, expected) =>
      (await clusterNamed(name))?.status?.conditions?.find(({ type }) => type === expected) ?? {},
    head: async () => (await client.get<Pipeline>(PIPELINES, { name: 'fleet' })).status?.head ?? {},
    planOf: async (commit) => (await releaseOf(commit)).spec.plan,
    async stageOf(commit, name) {
      const release = await releaseOf(commit);
      const found = release.status?.stages?.find((stage) => stage.name === name);
      if (!found) throw new Error(`no stage ${name} in ${release.metadata.name}`);
      return found;
    },
    versions: () => Promise.all(STAGES.map((name) => versionIn(clusters[name]))),
    async stop() {
      await Promise.all([hub, test, prod].map((each) => each.stop()));
    },
  };
  return fleet;

  function releaseOf(commit: string): Promise<Release> {
    return client.get<Release>(RELEASES, { name: `fleet-${commit.slice(0, 12)}` });
  }

  async function clusterNamed(name: string): Promise<Cluster | undefined> {
    const { items } = await client.list<Cluster>(CLUSTERS);
    return items.find(({ metadata }) => metadata.name === name);
  }
}

/** The Secret with the kubeconfig of a cluster. */
async function credentialsOf(name: Stage, server: ApiServer): Promise<KubeObject> {
  const kubeconfig = readFileSync(await server.kubeconfigFor(createPrincipal('kubenode-sync')));
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${name}-kubeconfig`,
      namespace: 'kubenode-system',
      annotations: { 'kubenode.dev/secret-use': 'kubeconfig' },
    },
    data: { kubeconfig: kubeconfig.toString('base64') },
  };
}

async function versionIn(server: ApiServer): Promise<unknown> {
  const { data } = await server.client.get(CONFIG_MAPS, { name: 'settings', namespace: 'default' });
  return (data as { version: string }).version;
}

interface RunningSyncOptions {
  readonly identity: string;
  readonly mayHold: (lease: string) => boolean;
  readonly log: MemoryLog;
  readonly more: MoreOptions;
}

async function runningSync(
  kubeconfig: string,
  { identity, mayHold, log, more }: RunningSyncOptions,
): Promise<Sync> {
  const clock = createSystemClock();
  const sync = await startSync(
    {
      planCommit: createPlanCommit({
        connect: (onCall) => connect({ kubeconfig, onCall }),
        clock,
        log,
      }),
      connectHub: async (fence) =>
        withLeases(await connect({ kubeconfig, ...(fence ? { fence } : {}) }), mayHold),
      identity,
      renderer: createTestRenderer(),
      gitFolder: tempFolder('git'),
      clock,
      log,
      random: () => 0.5,
      ...more,
    },
    new AbortController().signal,
  );
  let closed: Promise<void> | undefined;
  const close = (): Promise<void> => (closed ??= sync.close());
  onTestFinished(close);
  return { ...sync, close };
}

/** Every attempt to hold another Lease loses the race. */
function withLeases(client: Client, mayHold: (lease: string) => boolean): Client {
  const refuse = ({ kind }: Resource, { metadata }: KubeObject): void => {
    if (kind !== LEASES.kind || mayHold(metadata.name)) return;
    throw new KubeError('Conflict', `Lease ${metadata.name} was taken`, { status: 409 });
  };
  return {
    ...client,
    create: async (resource, object, options) => {
      refuse(resource, object);
      return client.create(resource, object, options);
    },
    replace: async (resource, object, options) => {
      refuse(resource, object);
      return client.replace(resource, object, options);
    },
  };
}

function pipelineOf(repository: string): Pipeline {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: {
      source: { repository, ref: 'refs/heads/main', pollSeconds: 1 },
      stages: STAGES.map((name) => ({
        name,
        clusterSelector: { matchLabels: { 'kubenode.dev/environment': name } },
        soakSeconds: 2,
      })),
    },
  } as unknown as Pipeline;
}

/** Removes the content of the other names. */
function fleetFiles(version: string, names: ClusterNames): Record<string, string | undefined> {
  const settings = (cluster: string): string =>
    `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings, namespace: default}\ndata: {version: "${version}", cluster: ${cluster}}\n`;
  return {
    'hub/clusters.yaml': STAGES.map((stage) => clusterYaml(stage, names[stage])).join('---\n'),
    ...Object.fromEntries(STAGES.map((name) => [objectsFile(name), undefined])),
    ...Object.fromEntries(STAGES.map((name) => [objectsFile(names[name]), settings(name)])),
  };
}

function objectsFile(cluster: string): string {
  return `clusters/${cluster}/web/objects.yaml`;
}

function clusterYaml(stage: Stage, name: string): string {
  return `apiVersion: kubenode.dev/v1alpha1\nkind: Cluster\nmetadata: {name: ${name}}\nspec:\n  environment: ${stage}\n  connection: {credentialsRef: {name: ${stage}-kubeconfig}}\n`;
}
