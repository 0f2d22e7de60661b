/** `kubenode plan` of a component set, with the rights of sync, over machines as their agents report them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLUSTERS,
  DEFENDER_LEDGERS,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
  PIPELINES,
} from '../../../src/api/generated/resources.ts';
import { PRINCIPAL_SYNC, serviceAccountUser } from '../../../src/api/names.ts';
import { previewOnClusters } from '../../../src/cli/plan/live.ts';
import { resolveRevision } from '../../../src/controllers/componentset/revision/resolve.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { digestOf } from '../../../src/kube/objects/digest.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { CLUSTER_SCOPE } from '../../../src/sync/apply/inventory/config-maps.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import type { TargetPreview } from '../../../src/sync/preview/preview.ts';
import { formatTargetRollouts } from '../../../src/sync/preview/rollouts.ts';
import { ago, condition, node } from '../../support/builders.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { withoutRights } from '../controllers/rights.ts';
import { ACCOUNTS, applyFleetDefault, patchNodeStatus } from '../defender/objects.ts';
import { commitNo, NEVER, startTestSync, targetOf } from '../sync/target-cluster.ts';
import { assign, reportMachine, reportSet } from './rollout-fixture.ts';

const KIND = { apiVersion: 'kubenode.dev/v1alpha1' };
const LIMITS = { budget: { maxObjects: 10, maxPercent: 20 }, acknowledgements: [] };
const NAMES = ['m-1', 'm-2', 'm-3'] as const;
const OLD = version('1');

let installed: InstalledServer;
let client: Client;
let kubeconfig: string;
beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
  const user = serviceAccountUser(PRINCIPAL_SYNC);
  kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
  await registerHub();
  const sync = await startTestSync(client, await readClusterUID(client, NEVER), CLUSTER_SCOPE);
  await sync.sync(targetOf(commitNo(1), { machines: [...NAMES.map(machine), OLD, set('1')] }));
  await sync.close();
  await settleAll();
});
afterAll(() => installed?.stop());

/** It is a cluster of its own fleet. */
async function registerHub(): Promise<void> {
  const clusterSelector = { matchLabels: { 'kubenode.dev/environment': 'test' } };
  await client.create(CLUSTERS, {
    ...KIND,
    kind: 'Cluster',
    metadata: { name: 'test' },
    spec: { environment: 'test', connection: { inCluster: true } },
  });
  await client.create(PIPELINES, {
    ...KIND,
    kind: 'Pipeline',
    metadata: { name: 'fleet' },
    spec: {
      source: { repository: 'https://git.example.com/fleet' },
      stages: [{ name: 'test', clusterSelector }],
    },
  });
}

function version(number: string): KubeObject & { readonly spec: object } {
  const spec = { component: 'shell', version: number };
  const { kind } = MACHINE_COMPONENTS;
  const file = { path: '/etc/shell.conf', content: `version ${number}\n`, onChange: 'Drain' };
  return { ...KIND, kind, metadata: { name: `shell-${number}` }, spec: { ...spec, files: [file] } };
}

function set(number: string): KubeObject {
  const machineSelector = { matchLabels: { pool: 'tools' } };
  const components = [{ name: 'shell', componentRef: `shell-${number}` }];
  const rollout = { batches: [1, 5] };
  const { kind } = MACHINE_COMPONENT_SETS;
  return { ...KIND, kind, metadata: { name: 'tools' }, spec: { machineSelector, components, rollout } };
}

function machine(name: string): KubeObject {
  const spec = { infra: { provider: 'local', config: {} }, host: { type: 'systemd' } };
  return { ...KIND, kind: MACHINES.kind, metadata: { name, labels: { pool: 'tools' } }, spec };
}

/** As the controllers and agents leave the cluster: every machine runs the first version. */
async function settleAll(): Promise<void> {
  const { spec } = await client.get<KubeObject & { spec: never }>(MACHINE_COMPONENTS, { name: 'shell-1' });
  const digest = digestOf(spec);
  const entry = { name: 'shell', componentRef: 'shell-1', digest };
  const refs = [{ name: 'shell', componentRef: 'shell-1', state: 'Present', parameters: {} }] as const;
  const resolved = resolveRevision(refs, () => ({ spec, digest }));
  const revision = 'revision' in resolved ? resolved.revision.name : '';
  for (const name of NAMES) {
    const { status, ...its } = node(name);
    await client.create(NODES, its);
    await patchNodeStatus(client, name, status);
    await assign(installed, name, entry, { set: 'tools', revision, batch: 0 });
    const state = { state: 'Committed', running: true, ready: true, digest };
    const report = { name: 'shell', desiredRef: 'shell-1', currentRef: 'shell-1', ...state };
    const conditions = [condition('AgentReady', 'True', { lastTransitionTime: ago(600) })];
    await reportMachine(client, name, { conditions, components: [report] });
  }
  const history = [{ revision, components: ['shell-1'], result: 'Completed' }];
  await reportSet(client, 'tools', { updateRevision: revision, currentRevision: revision, history });
}

/** Of a commit that gives the set that version. */
async function planned(number: string): Promise<TargetPreview | undefined> {
  const { commit, ...target } = targetOf(commitNo(2), {
    machines: [...NAMES.map(machine), OLD, version(number), set(number)],
  });
  const to = { commit, targets: [{ ...target, target: 'test' }] };
  const io = testIo({ env: { KUBECONFIG: kubeconfig } });
  const { targets: previews } = await previewOnClusters(
    io,
    {},
    { from: undefined, to, limits: LIMITS, pipeline: 'fleet' },
  );
  return previews.find((each) => each.target === 'test');
}

async function versions(): Promise<readonly (string | undefined)[]> {
  const lists = await Promise.all(
    [MACHINES, MACHINE_COMPONENTS, MACHINE_COMPONENT_SETS, DEFENDER_LEDGERS].map((each) => client.list(each)),
  );
  return lists.flatMap(({ items }) =>
    items.map(({ metadata }) => `${metadata.name} ${metadata.resourceVersion}`),
  );
}

const OPEN = {
  mode: 'Enforce',
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'all', per: 'Cluster', max: 3 }],
  rates: [],
};

async function defenderOf(plan: Promise<TargetPreview | undefined>): Promise<unknown> {
  const { rollouts } = (await plan) ?? {};
  return rollouts?.state === 'Known' ? rollouts.sets[0]?.defender : rollouts;
}

describe('a plan of a component set', () => {
  it('ROL-60 shows batches, classes and drains of the live machines, and writes nothing', async () => {
    const before = await versions();
    const preview = await planned('2');
    expect(await versions()).toEqual(before);
    expect(preview).toMatchObject({ by: 'live' });
    const [found = '', ...lines] = formatTargetRollouts(preview?.rollouts);
    expect(found).toBe('  rollout of tools: 3 of 3 machines, Drain, 3 with a drain');
    expect(lines).toEqual([
      '    change    shell-1 → shell-2',
      expect.stringMatching(/^    batch 1   1 machine, Drain: m-\d$/),
      expect.stringMatching(/^    batch 2   2 machines, Drain: m-\d, m-\d$/),
      expect.stringMatching(/^    defender  /),
      ...lines.slice(4, -2),
      expect.stringMatching(/^    takes     \d+ min of soaks at least, at most \d+ min once it begins, if$/),
      '              nothing fails or waits',
    ]);
  });

  it('ROL-60 shows what the Defender would answer now with the rights of sync, and writes nothing', async () => {
    const nowMs = +createSystemClock().now();
    const [from, until] = [-60_000, 3_600_000].map((ms) => new Date(nowMs + ms).toISOString());
    const freeze = { name: 'sale', from, until, reason: 'the sale', risks: ['Node'] };
    expect(await defenderOf(planned('2'))).toMatchObject({ denied: [{ reason: 'PolicyMissing' }] });
    await applyFleetDefault(installed, { ...OPEN, freezes: [freeze] });
    const before = await versions();
    expect(await defenderOf(planned('2'))).toMatchObject({
      state: 'Known',
      granted: { count: 0 },
      denied: [{ reason: 'Freeze', until, machines: { count: 1 } }],
    });
    await applyFleetDefault(installed, OPEN);
    expect(await defenderOf(planned('2'))).toMatchObject({ granted: { count: 1 }, denied: [] });
    expect(await versions()).toEqual(before);
  });

  it('ROL-60 names what cannot be read where the answer of the Defender is not known, and shows the rest', async () => {
    const restore = await withoutRights(client, 'kubenode-sync-base', 'pods');
    const preview = await planned('2');
    await restore();
    const lines = formatTargetRollouts(preview?.rollouts);
    expect(lines).toContainEqual(
      expect.stringMatching(/^    defender  not known: what it decides by cannot be read: list pods/),
    );
    expect(lines).toContainEqual(expect.stringMatching(/^    batch 1   1 machine, Drain: m-\d$/));
  });

  it('ROL-60 has nothing to roll out for a commit that changes nothing', async () => {
    expect(await planned('1')).toMatchObject({ by: 'live', units: [] });
  });

  it('ROL-60 shows that the machines are not known where Nodes may not be read, and shows the rest', async () => {
    const restore = await withoutRights(client, 'kubenode-sync-base', 'nodes');
    const preview = await planned('2');
    await restore();
    expect(preview).toMatchObject({ by: 'live', rollouts: { state: 'Unknown' } });
    expect(preview?.units[0]?.changes.map(({ action, object }) => `${action} ${object}`)).toEqual([
      'create kubenode.dev/MachineComponent shell-2',
      'update kubenode.dev/MachineComponentSet tools',
    ]);
    expect(formatTargetRollouts(preview?.rollouts).join(' ')).toContain('not known');
  });
});
