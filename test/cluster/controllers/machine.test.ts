/** Machines on a real API server: from `kubectl apply` to Ready, and the deletion of one whose pods a budget keeps. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENTS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { MachineComponent } from '../../../src/api/generated/types.ts';
import { conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { entryOf } from '../../support/agent/fake-api.ts';
import { tempFolder } from '../../support/temp.ts';
import { readLedger } from '../defender/objects.ts';
import { createBudget, createPod, deleteBudget } from './budgeted-pod.ts';
import { type MachineCluster, startMachineCluster } from './machine-cluster.ts';

describe('a Machine', () => {
  let cluster: MachineCluster;

  beforeAll(async () => {
    cluster = await startMachineCluster();
    cluster.start(3);
  });
  afterAll(() => cluster?.stop());

  it('MAC-17 is applied by kubectl twice, becomes Ready, and stays so', async () => {
    const component = {
      apiVersion: 'kubenode.dev/v1alpha1',
      kind: 'MachineComponent',
      metadata: { name: 'proxy-1.0' },
      spec: componentSpec('1.0', { commitAfterSeconds: 1, activation: { class: 'Reload' } }),
    };
    await cluster.admin.apply(MACHINE_COMPONENTS, component, { fieldManager: 'test' });
    const { spec } = await cluster.admin.get<MachineComponent>(MACHINE_COMPONENTS, component.metadata);
    await kubectlApply('ant-1', { components: [entryOf(spec, false)], node: { labels: { pool: 'a' } } });
    await expect.poll(() => stateOf('ant-1')).toBe('Joined a');
    await kubectlApply('ant-1', { components: [entryOf(spec, false)], node: { labels: { pool: 'b' } } });
    await expect.poll(() => stateOf('ant-1')).toBe('Joined b');
    expect((await cluster.machine('ant-1'))?.metadata.finalizers).toEqual(['kubenode.dev/machine']);
  });

  it('MAC-31 keeps a machine that a person deletes until the budget of its pods allows it, and names the budget', async () => {
    await createMachine('web-1');
    await createPod(cluster.admin, 'web-1');
    await createBudget(cluster.admin);
    await cluster.deleteMachine('web-1');
    await expect.poll(() => waitOf('web-1')).toBe('PodDisruptionBudget default/web');
    const node = await cluster.admin.get(NODES, { name: 'web-1' });
    expect(node['spec']).toMatchObject({ unschedulable: true });
    expect((await readLedger(cluster.admin)).spec.grants['web-1']).toMatchObject({
      action: 'DeleteMachine',
      state: 'Started',
      holder: { kind: 'Machine', name: 'web-1' },
    });
    await cluster.killOne();
    await deleteBudget(cluster.admin);
    await expect.poll(() => cluster.machine('web-1')).toBeUndefined();
    expect(await cluster.nodes()).not.toContain('web-1');
    expect((await readLedger(cluster.admin)).spec.grants['web-1']).toMatchObject({ outcome: 'Succeeded' });
  });

  it('MAC-31 does nothing to a deleted machine that a person holds, or that the Defender denies', async () => {
    await createMachine('held-1', { hold: { reason: 'forensics' } });
    await cluster.deleteMachine('held-1');
    await expect.poll(() => waitOf('held-1')).toBe('HeldDisruptive undefined/held-1');
    await cluster.setStopped(true);
    const released = { type: 'merge', body: { spec: { hold: null } } } as const;
    await cluster.admin.patch(MACHINES, { name: 'held-1' }, released);
    await expect.poll(() => waitOf('held-1')).toBe('GrantDenied undefined/fleet-default');
    expect((await cluster.admin.get(NODES, { name: 'held-1' }))['spec']).not.toHaveProperty('unschedulable');
    await cluster.setStopped(false);
    await expect.poll(() => cluster.machine('held-1')).toBeUndefined();
  });

  it('tells in the status of the Machine, for people who may not read Nodes, that a person has cordoned its Node', async () => {
    await createMachine('cordoned-1');
    const cordon = async (): Promise<object | undefined> =>
      (await cluster.machine('cordoned-1'))?.status?.node?.cordon;
    await cluster.kubectl('cordon', 'cordoned-1');
    await expect.poll(cordon).toEqual({ since: expect.stringMatching(/^\d{4}-.*Z$/) as string });
    await cluster.kubectl('uncordon', 'cordoned-1');
    await expect.poll(cordon).toBeUndefined();
  });

  async function kubectlApply(name: string, spec: object): Promise<void> {
    const file = join(tempFolder('machine'), 'machine.json');
    const metadata = { name, labels: { pool: 'ant' } };
    const object = { ...machineObject(name, spec), metadata };
    await writeFile(file, JSON.stringify(object));
    await cluster.kubectl('apply', '-f', file);
  }

  /** The agent and its Node are there; with the label of the Node. Components need grants of another controller. */
  async function stateOf(name: string): Promise<string> {
    const conditions = (await cluster.machine(name))?.status?.conditions;
    const types = ['AgentReady', 'NodeReady', 'NodeSynced'];
    const joined = types.every((type) => conditionStatus(conditions, type) === 'True');
    const { metadata } = await cluster.admin.get(NODES, { name });
    return `${joined ? 'Joined' : 'Joining'} ${metadata.labels?.['pool']}`;
  }

  async function createMachine(name: string, spec: object = {}): Promise<void> {
    await cluster.admin.create(MACHINES, machineObject(name, spec));
    const state = async (): Promise<string | undefined> =>
      conditionStatus((await cluster.machine(name))?.status?.conditions, 'Ready');
    await expect.poll(state).toBe('True');
  }

  async function waitOf(name: string): Promise<string> {
    const { reason, blocker } = (await cluster.machine(name))?.status?.waiting ?? {};
    return `${reason} ${blocker?.namespace}/${blocker?.name}`;
  }
});

function machineObject(
  name: string,
  spec: object,
): { apiVersion: string; kind: string; metadata: { name: string }; spec: object } {
  return {
    apiVersion: 'kubenode.dev/v1alpha1',
    kind: 'Machine',
    metadata: { name },
    spec: { infra: { provider: 'local' }, host: { type: 'sandbox' }, ...spec },
  };
}
