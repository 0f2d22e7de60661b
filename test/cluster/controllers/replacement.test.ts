/** The replacement of machines on a real API server, with `kubenode controllers` in a process, its Defender, and hosts with simulated agents. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_SETS, NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedier } from '../../../src/api/generated/types.ts';
import {
  ANNOTATION_COMMIT,
  ANNOTATION_DELETE,
  MANAGER_SYNC,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { REMOVED } from '../../rules/sample-rule.ts';
import { remedier } from '../../support/remediers.ts';
import { ACCOUNTS, applyFleetDefault, patchNodeStatus } from '../defender/objects.ts';
import { type MachineCluster, machineSetObject, POLICY, startMachineCluster } from './machine-cluster.ts';

const NAME = 'web';
/** A taint that evicts pods is one of the fields that only another machine can have. */
function taints(key: string): readonly object[] {
  return [{ key, value: 'web', effect: 'NoExecute' }];
}

function hasTaint(key: string): (machine: Machine) => boolean {
  return ({ spec }) => spec.node.taints.some((taint) => taint.key === key);
}

const BROKEN = { fact: 'condition', params: { type: 'Broken' }, path: '$.status', operator: 'equal' };

function broken(status: string): object {
  return { condition: { Broken: { status } } };
}

/** A rule that replaces a machine with the condition Broken, and keeps its instance. */
function replacingRule(): NodeRemedier {
  const keepFailed = { holdSeconds: 3600, max: 1 };
  const replaced = { conditions: { all: [{ ...BROKEN, value: 'False' }] }, target: 'Replacement' };
  return remedier(
    {
      '/target/maxMatchPercent': 100,
      '/rule/conditions': { all: [{ ...BROKEN, value: 'True' }] },
      '/rule/gate': REMOVED,
      '/ladder': [
        { name: 'replace', plan: [{ step: 'ReplaceMachine', with: { keepFailed } }], verify: replaced },
        { name: 'person', plan: [{ step: 'HandOff' }] },
      ],
      '/tests': [
        { name: 'broken', expect: 'Match', given: broken('True') },
        { name: 'well', expect: 'NoMatch', given: broken('False') },
        { name: 'silent', expect: 'Indeterminate', given: {} },
      ],
    },
    { name: 'broken', annotations: { [ANNOTATION_COMMIT]: '4f2c9e1a77b0' } },
  );
}

/** A repair names the boot that it was planned for. */
async function breakNode(admin: Client, name: string): Promise<void> {
  await patchNodeStatus(admin, name, { nodeInfo: { bootID: 'boot-1' } });
  const now = createSystemClock().now().toISOString();
  const times = { lastHeartbeatTime: now, lastTransitionTime: now };
  const conditions = [{ type: 'Broken', status: 'True', reason: 'Test', message: 'broken', ...times }];
  const object = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { conditions } };
  await admin.apply(NODES, object, { fieldManager: 'detector', subresource: 'status' });
}

describe('a MachineSet that replaces its machines', { shuffle: false }, () => {
  let cluster: MachineCluster;
  let readyCounts: number[] = [];

  beforeAll(async () => {
    cluster = await startMachineCluster();
    cluster.start(1);
  });
  afterAll(() => cluster?.stop());

  async function declare(key: string): Promise<void> {
    const { spec, ...rest } = machineSetObject(NAME, 3) as unknown as {
      readonly spec: { readonly template: { readonly node: object } };
      readonly apiVersion: string;
      readonly kind: string;
      readonly metadata: { readonly name: string };
    };
    const template = { ...spec.template, node: { ...spec.template.node, taints: taints(key) } };
    const updateStrategy = { type: 'Replace', maxUnavailable: 0, maxSurge: 1 };
    // Nodes that are there before their agents would look like a storm.
    const stormGuard = { maxUnhealthy: '100%', maxUnhealthyInZone: '100%' };
    const object = { ...rest, spec: { ...spec, template, updateStrategy, stormGuard } };
    await cluster.admin.apply(MACHINE_SETS, object, { fieldManager: 'test', force: true });
  }

  async function live(): Promise<readonly Machine[]> {
    const machines = await cluster.machines();
    return machines.filter(({ metadata }) => metadata.deletionTimestamp === undefined);
  }

  /** UIDs of machines that are Ready, and have this taint in their spec. */
  async function ready(key: string): Promise<readonly string[]> {
    const machines = await live();
    const found = machines.filter(
      ({ status }) => conditionOf(status?.conditions, 'Ready')?.status === 'True',
    );
    readyCounts.push(found.length);
    return found.filter(hasTaint(key)).map(({ metadata }) => metadata.uid ?? '');
  }

  it('MAC-32 replaces three machines, one beyond replicas, and never has fewer that are Ready', async () => {
    await declare('one');
    await expect.poll(async () => (await ready('one')).length).toBe(3);
    readyCounts = [];
    await declare('two');
    await expect.poll(async () => (await ready('two')).length).toBe(3);
    await expect.poll(async () => (await live()).length).toBe(3);
    expect(Math.min(...readyCounts)).toBeGreaterThanOrEqual(3);
    await expect
      .poll(async () => conditionOf((await cluster.set(NAME)).status?.conditions, 'UpToDate')?.status)
      .toBe('True');
  });

  it('MAC-32 goes back in the middle, and keeps the machines that match again', async () => {
    await declare('three');
    await expect.poll(async () => (await live()).filter(hasTaint('three')).length).toBeGreaterThan(0);
    await declare('two');
    await expect.poll(async () => (await cluster.set(NAME)).status?.observedGeneration).toBe(4);
    const kept = await ready('two');
    await expect.poll(async () => (await ready('two')).length).toBe(3);
    await expect.poll(async () => (await live()).length).toBe(3);
    expect(kept.length).toBeGreaterThan(1);
    expect(await ready('two')).toEqual(expect.arrayContaining([...kept]));
  });

  it('MAC-40 keeps the instance of a machine that a rule replaces, until a person ends it', async () => {
    const { installed, admin } = cluster;
    // Nodes of a test are young.
    await applyFleetDefault(installed, { ...POLICY, blockers: { minNodeAgeSeconds: 0 } });
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    await sync.apply(NODE_REMEDIERS, replacingRule(), { fieldManager: MANAGER_SYNC });
    const name = (await live())[0]?.metadata.name ?? '';
    await breakNode(admin, name);
    const waiting = async (): Promise<string | undefined> =>
      (await cluster.machine(name))?.status?.waiting?.reason;
    await expect.poll(waiting).toBe('Kept');
    expect((await cluster.machine(name))?.status?.kept).toMatchObject({ max: 1 });
    await expect.poll(() => cluster.nodes()).not.toContain(name);
    await expect.poll(async () => (await ready('two')).length).toBe(3);
    await expect.poll(async () => (await cluster.set(NAME)).status?.replicas).toBe(3);
    expect(await waiting()).toBe('Kept');
    await cluster.kubectl('annotate', 'machines.kubenode.dev', name, `${ANNOTATION_DELETE}=`);
    await expect.poll(() => cluster.machine(name)).toBeUndefined();
  });
});
