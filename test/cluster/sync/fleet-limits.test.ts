/** Limits over clusters on real API servers: a hub with sync, and two clusters whose Defenders decide for real. */
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import {
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  FLEET_ALLOWANCES,
  FLEET_POLICIES,
  MACHINE_COMPONENT_SETS,
  PIPELINES,
  RELEASES,
} from '../../../src/api/generated/resources.ts';
import type {
  DefenderLedger,
  FleetAllowance,
  FleetPolicy,
  Pipeline,
  Release,
  RevisionRecord,
} from '../../../src/api/generated/types.ts';
import type { Denial, Grant } from '../../../src/api/grants.ts';
import {
  FLEET_ALLOWANCE,
  FLEET_DEFAULT,
  LEDGER,
  MANAGER_SYNC,
  PRINCIPAL_DEFENDER,
} from '../../../src/api/names.ts';
import { createDefender, type Defender } from '../../../src/defender/defender.ts';
import { createCallWindow } from '../../../src/defender/facts/call-window.ts';
import { createView } from '../../../src/kube/cache/view.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { unlessMissing } from '../../../src/kube/client/errors.ts';
import { runControllers } from '../../../src/kube/controller/run.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { ApiServer } from '../../support/control-plane.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { createMachineWithNode } from '../defender/objects.ts';
import { kubenodeAs } from '../defender/processes.ts';
import { STAGES, type Stage, startTestFleet, type TestFleet } from './test-fleet.ts';

const clock = createSystemClock();
const ROLLED_BACK: RevisionRecord = {
  revision: 'r-00000002',
  components: ['kubelet-2'],
  result: 'RolledBack',
  finishedAt: clock.now().toISOString(),
};
const ALL = { nodeSelector: { all: true } };
const OPEN_POLICY = {
  scope: ALL,
  concurrency: [{ name: 'all', per: 'Cluster', max: 10 }],
  zones: { haltPercent: 100, minNodes: 100 },
  blockers: { minNodeAgeSeconds: 0 },
};
const ONE_CLUSTER = {
  clusterSelector: { all: true },
  concurrency: [{ name: 'clusters', per: 'Cluster', max: 1 }],
};

let fleet: TestFleet;
let first: string;
beforeAll(async () => {
  fleet = await startTestFleet();
});
beforeEach(async () => {
  await fleet.reset();
  first = fleet.commit('1', 'first');
});
afterAll(() => fleet.stop());

describe('limits over clusters', () => {
  it('let one cluster act at a time, and the next one when it has ended', async () => {
    const defenders = await startFleet(ONE_CLUSTER);
    const holder = await holderOfShare();
    const other = holder === 'test' ? 'prod' : 'test';
    const granted = await ask(defenders[holder], holder);
    expect(granted).toMatchObject({ granted: true });
    const denied = await ask(defenders[other], other);
    expect(denied).toMatchObject({ granted: false, reason: 'FleetLimit', key: 'fleet/clusters' });
    await expect.poll(() => waiting()).toEqual([other]);
    const why = await kubenode('fleet', 'why', other);
    expect(why.stdout).toContain('waits for a share of fleet/clusters since');
    expect((await ask(defenders[other], other)).granted).toBe(false);

    await settle(defenders[holder], granted);
    await expect.poll(async () => (await ask(defenders[other], other)).granted).toBe(true);
    expect(await ask(defenders[holder], holder)).toMatchObject({ reason: 'FleetLimit' });
    // What is in use is reported a moment after the grant.
    const status = async (): Promise<string> => (await kubenode('fleet', 'status')).stdout;
    await expect.poll(status).toMatch(/fleet\/clusters +1 +1 +1/);
    expect((await kubenode('fleet', 'status')).code).toBe(0);
  });

  it('stop every cluster by one command, also while sync is away, until a person resumes', async () => {
    const defenders = await startFleet(ONE_CLUSTER);
    await holderOfShare();
    await fleet.allProven(first);
    const stopped = await kubenode('fleet', 'stop', '--reason', 'bad image');
    expect([stopped.code, stopped.stderr]).toEqual([0, '']);
    expect(stopped.stdout).toContain('2 of 2 clusters have stopped');
    const bump = fleet.commit('2', 'bump');
    await expect.poll(async () => (await fleet.head()).commit).toBe(bump);
    await expect.poll(() => haltMessage()).toContain('To continue, run: kubenode fleet resume');
    expect(await fleet.versions()).toEqual(['1', '1']);
    await sync?.close();
    for (const name of STAGES) {
      expect(await ask(defenders[name], name)).toMatchObject({
        reason: 'KillSwitch',
        message: expect.stringContaining('bad image') as string,
      });
    }
    const again = await kubenode('fleet', 'stop', '--reason', 'again');
    expect(again.code).toBe(1);
    expect(again.stderr).toContain('the fleet is stopped already');
    expect((await kubenode('fleet', 'resume')).code).toBe(0);
    await fleet.sync('two');
    await fleet.allProven(bump);
    const holder = await holderOfShare();
    await expect.poll(async () => explainAnswer(await ask(defenders[holder], holder))).toBe('granted');
  });

  it('hold what failed in both clusters, and every new commit after too many rollouts failed', async () => {
    const defenders = await startFleet({
      clusterSelector: { all: true },
      commonCause: { clusters: 2 },
      failedRollouts: { max: 2 },
    });
    await fleet.allProven(first);
    await reportRollout('test', [ROLLED_BACK]);
    await expect.poll(() => failuresIn('test')).toEqual(['componentUpdate=kubelet-2']);
    expect((await ask(defenders.test, 'test', ['kubelet-2'])).granted).toBe(true);
    await reportRollout('prod', [ROLLED_BACK]);
    for (const name of STAGES) {
      await expect.poll(() => heldIn(name)).toEqual(['componentUpdate=kubelet-2', 'failedRollouts=fleet']);
    }
    const { status } = await fleet.hub.client.get<FleetPolicy>(FLEET_POLICIES, { name: 'fleet' });
    expect(status).toMatchObject({ phase: 'Held', failedRollouts: 2 });
    const [update] = status?.causes ?? [];
    expect(update?.clusters.map(({ cluster, commit }) => [cluster, commit])).toEqual([
      ['prod', first],
      ['test', first],
    ]);

    const denied = await ask(defenders.prod, 'prod', ['kubelet-2']);
    const causes = denied.granted ? [] : [denied, ...denied.also];
    expect(new Set(causes.map(({ reason, key }) => `${reason} ${key}`))).toEqual(
      new Set(['FleetCause componentUpdate=kubelet-2', 'FleetCause failedRollouts=fleet']),
    );
    const shown = await kubenode('fleet', 'status');
    expect([shown.code, shown.stdout]).toEqual([
      1,
      expect.stringContaining('componentUpdate=kubelet-2') as string,
    ]);
    expect((await kubenode('fleet', 'why', 'prod')).stdout).toContain('componentUpdate=kubelet-2');

    const bump = fleet.commit('2', 'bump');
    await expect.poll(() => waitOf(bump)).toBe('FleetCause');
    expect(await fleet.versions()).toEqual(['1', '1']);
    for (const name of STAGES) await reportRollout(name, []);
    await fleet.allProven(bump);
  });

  it('refuse an allowance that another process of the hub has replaced', async () => {
    await startFleet(ONE_CLUSTER);
    await holderOfShare();
    const kubeconfig = await fleet.clusters.prod.kubeconfigFor(createPrincipal('kubenode-sync'));
    const client = await connect({ kubeconfig });
    onTestFinished(() => client.close());
    const found = await client.get<FleetAllowance>(FLEET_ALLOWANCES, { name: FLEET_ALLOWANCE });
    const late = { ...found, spec: { ...found.spec, seq: found.spec.seq - 1 } };
    await expect(client.replace(FLEET_ALLOWANCES, late)).rejects.toThrow('epoch and seq must increase');
    const { client: person } = fleet.clusters.prod;
    const looser = { ...found, spec: { ...found.spec, seq: found.spec.seq + 1 } };
    await expect(person.replace(FLEET_ALLOWANCES, looser)).rejects.toThrow(
      'only kubenode-sync may write this object',
    );
  });
});

let sync: Awaited<ReturnType<TestFleet['sync']>> | undefined;

async function startFleet(spec: object): Promise<Record<Stage, Defender>> {
  const started = await Promise.all(STAGES.map((name) => startDefender(name)));
  const [test, prod] = started;
  if (!test || !prod) throw new Error('there are two stages');
  await fleet.pipeline();
  const account = await connect({
    kubeconfig: await fleet.hub.kubeconfigFor(createPrincipal('kubenode-sync')),
  });
  onTestFinished(() => account.close());
  await account.apply(
    FLEET_POLICIES,
    {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'FleetPolicy',
      metadata: { name: 'fleet' },
      spec,
    },
    { fieldManager: MANAGER_SYNC },
  );
  sync = await fleet.sync('one');
  return { test, prod };
}

/** As in `kubenode controllers`, as the account of the Defender. */
async function startDefender(name: Stage): Promise<Defender> {
  const server: ApiServer = fleet.clusters[name];
  await createMachineWithNode(server.client, `${name}-m1`);
  await applyFleetDefault(server);
  const kubeconfig = await server.kubeconfigFor(createPrincipal(PRINCIPAL_DEFENDER));
  const calls = createCallWindow(clock);
  const client = await connect({ kubeconfig, onCall: (report) => calls.add(report) });
  const shared = { clock, random: () => 0.5, log: memoryLog() };
  const defender = createDefender({ ...shared, client, calls, leads: () => true, hasRollouts: true });
  // As the controllers of rollouts have it in the same process.
  const sets = createView({ ...shared, client: server.client, resource: MACHINE_COMPONENT_SETS });
  const stop = new AbortController();
  const ended = runControllers(
    {
      ...shared,
      controllers: [defender.controller],
      views: { ...defender.views, [MACHINE_COMPONENT_SETS.kind]: sets },
      reporter: { domain: 'test', instance: 'one' },
      connect: () => connect({ kubeconfig, onCall: (report) => calls.add(report) }),
    },
    stop.signal,
  );
  ended.catch(() => {}); // its end is awaited below
  onTestFinished(async () => {
    stop.abort();
    await ended.catch(() => {});
    defender.close();
    await client.close();
  });
  return defender;
}

async function applyFleetDefault(server: ApiServer): Promise<void> {
  const account = await connect({ kubeconfig: await server.kubeconfigFor(createPrincipal('kubenode-sync')) });
  const object = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'DefenderPolicy',
    metadata: { name: FLEET_DEFAULT },
    spec: OPEN_POLICY,
  };
  await account.apply(DEFENDER_POLICIES, object, { fieldManager: MANAGER_SYNC });
  await account.close();
}

async function ask(defender: Defender, name: Stage, brings: readonly string[] = []): Promise<Grant | Denial> {
  const machine = `${name}-m1`;
  const { uid = '' } = (await fleet.clusters[name].client.get(NODES, { name: machine })).metadata;
  const [answer] = await defender.ledger.ask([
    {
      holder: { kind: 'MachineComponentSet', name: 'base', revision: 'r-1' },
      machine,
      nodeUID: uid,
      action: 'UpdateComponent',
      risk: 'Node',
      brings,
      factsAt: clock.now(),
      expectedSeconds: 60,
    },
  ]);
  if (!answer) throw new Error('one ask has one answer');
  return answer;
}

function explainAnswer(answer: Grant | Denial): string {
  return answer.granted ? 'granted' : `${answer.reason}: ${answer.message}`;
}

/** A set whose rollouts ended so, as its controller reports it. */
async function reportRollout(name: Stage, history: readonly RevisionRecord[]): Promise<void> {
  const { client: admin } = fleet.clusters[name];
  const account = await connect({
    kubeconfig: await fleet.clusters[name].kubeconfigFor(createPrincipal('kubenode-sync')),
  });
  const set = {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'MachineComponentSet',
    metadata: { name: 'base' },
  };
  const components = [{ name: 'kubelet', componentRef: 'kubelet-2' }];
  const machineSelector = { matchLabels: { pool: 'none' } };
  await account.apply(
    MACHINE_COMPONENT_SETS,
    { ...set, spec: { machineSelector, components } },
    { fieldManager: MANAGER_SYNC },
  );
  await account.close();
  await admin.apply(
    MACHINE_COMPONENT_SETS,
    { ...set, status: { conditions: [], history } },
    { fieldManager: 'test', force: true, subresource: 'status' },
  );
}

async function failuresIn(name: Stage): Promise<readonly string[]> {
  const { status } = await allowanceOf(name);
  return (status?.failures ?? []).map(({ dimension, value }) => `${dimension}=${value}`);
}

/** What the Defender of the cluster adopted. */
async function heldIn(name: Stage): Promise<readonly string[]> {
  const ledger = await fleet.clusters[name].client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
  return (ledger.spec.allowance?.causes ?? []).map(({ dimension, value }) => `${dimension}=${value}`);
}

async function waitOf(commit: string): Promise<string | undefined> {
  const { items } = await fleet.hub.client.list<Release>(RELEASES, {});
  return items.find(({ spec }) => spec.commit === commit)?.status?.waiting?.reason;
}

async function settle(defender: Defender, grant: Grant | Denial): Promise<void> {
  if (!grant.granted) throw new Error(`expected a grant, got ${grant.reason}`);
  await defender.ledger.settle([{ id: grant.id, fence: grant.fence, outcome: 'Succeeded' }]);
}

async function allowanceOf(name: Stage): Promise<Partial<FleetAllowance>> {
  return (
    (await unlessMissing(
      fleet.clusters[name].client.get<FleetAllowance>(FLEET_ALLOWANCES, { name: FLEET_ALLOWANCE }),
    )) ?? {}
  );
}

/** The cluster that adopted the only share, once every cluster reports what it adopted. */
async function holderOfShare(): Promise<Stage> {
  await expect.poll(async () => (await adoptedShares()).map(String).toSorted()).toEqual(['0', '1']);
  const [ofTest] = await adoptedShares();
  return ofTest === 1 ? 'test' : 'prod';
}

async function adoptedShares(): Promise<readonly unknown[]> {
  return await Promise.all(STAGES.map(async (name) => (await allowanceOf(name)).status?.limits?.[0]?.share));
}

async function waiting(): Promise<readonly string[]> {
  const { status } = await fleet.hub.client.get<FleetPolicy>(FLEET_POLICIES, { name: 'fleet' });
  return (status?.waiting ?? []).map(({ cluster }) => cluster);
}

async function haltMessage(): Promise<string | undefined> {
  const { status } = await fleet.hub.client.get<Pipeline>(PIPELINES, { name: 'fleet' });
  return status?.conditions.find(({ type, reason }) => type === 'Progressing' && reason === 'Paused')
    ?.message;
}

async function kubenode(...args: string[]): ReturnType<typeof kubenodeAs> {
  return await kubenodeAs(fleet.hub.kubeconfig, ...args);
}
