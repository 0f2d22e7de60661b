/** The replacement of machines on a real API server, with `kubenode controllers` in a process, its Defender, and hosts with simulated agents. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_SETS } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { type MachineCluster, machineSetObject, startMachineCluster } from './machine-cluster.ts';

const NAME = 'web';
/** A taint that evicts pods is one of the fields that only another machine can have. */
function taints(key: string): readonly object[] {
  return [{ key, value: 'web', effect: 'NoExecute' }];
}

function hasTaint(key: string): (machine: Machine) => boolean {
  return ({ spec }) => spec.node.taints.some((taint) => taint.key === key);
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
});
