/**
 * `kubenode controllers --external-nodes-selector` on a real API server. cluster-autoscaler does not run: it has no objects, and the taint that
 * it would set is set here.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger } from '../../../src/api/generated/types.ts';
import { PRINCIPAL_EXTERNAL } from '../../../src/api/names.ts';
import { externalNodesRoles } from '../../../src/api/roles/all.ts';
import { TAINT_TO_BE_DELETED } from '../../../src/controllers/following/nodegroup/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { machine, node } from '../../support/builders.ts';
import { patchNodeStatus } from '../defender/objects.ts';
import { findMachine, heldOf, providerIdOf } from './followed-machines.ts';
import { type FollowingBed, startFollowing } from './following-bed.ts';

const GROUP = 'eks.amazonaws.com/nodegroup';
const LABELS = { [GROUP]: 'workers', 'topology.kubernetes.io/zone': 'zone-a' };

describe('Machines that follow Nodes of node groups', () => {
  let bed: FollowingBed;
  let admin: Client;

  beforeAll(async () => {
    bed = await startFollowing(externalNodesRoles(), ['--external-nodes-selector', GROUP]);
    admin = bed.admin;
  });

  afterAll(async () => {
    await bed?.stop();
  });

  it('CAP-16 have the instance, the labels and the zone of the Node, and leave the Nodes of others out', async () => {
    const { apiVersion, kind, spec } = machine('node-own');
    const own = { apiVersion, kind, metadata: { name: 'node-own' }, spec: { ...spec, components: [] } };
    await admin.create(MACHINES, own);
    await createNode('own');
    await createNode('plane', { ...LABELS, 'node-role.kubernetes.io/control-plane': '' });
    await createNode('pool', { ...LABELS, 'karpenter.sh/nodepool': 'general' });
    await createNode('other', {});
    await createNode('a');
    await expect.poll(() => providerIdOf(admin, 'node-a')).toBe('inst://a');
    const found = await findMachine(admin, 'node-a');
    expect(found?.spec.infra).toEqual({
      provider: 'external',
      config: { kind: 'Node', name: 'node-a', providerID: 'inst://a' },
    });
    expect([found?.metadata.labels?.[GROUP], found?.spec.zone]).toEqual(['workers', 'zone-a']);
    expect(conditionOf(found?.status?.conditions, 'InfraReady')).toMatchObject({
      status: 'True',
      message: 'instance inst://a belongs to Node node-a of a node group',
    });
    const names = (await admin.list(MACHINES)).items.map(({ metadata }) => metadata.name);
    expect(names.toSorted()).toEqual(['node-a', 'node-own']);
    expect((await findMachine(admin, 'node-own'))?.spec.infra.provider).toBe('local');
    expect(bed.logged()).not.toMatch(/karpenter is not read|machine not followed/);
  });

  it('CAP-16 are held by the taint of cluster-autoscaler, also after the process was killed', async () => {
    await createNode('b');
    await expect.poll(() => heldOf(admin, 'node-b')).toBe('False no hold applies');
    await patchNode('node-b', { spec: { taints: [{ key: TAINT_TO_BE_DELETED, effect: 'NoSchedule' }] } });
    await expect
      .poll(() => heldOf(admin, 'node-b'))
      .toBe(`True NodeToBeDeleted: Node node-b has the taint ${TAINT_TO_BE_DELETED}`);
    await bed.kill();
    await patchNode('node-b', { spec: { taints: null } });
    const before = await findMachine(admin, 'node-b');
    await bed.start();
    await expect.poll(() => heldOf(admin, 'node-b')).toBe('False no hold applies');
    expect((await findMachine(admin, 'node-b'))?.metadata.uid).toBe(before?.metadata.uid);
  });

  it('CAP-16 stay while their Node is there without the labels, and go with it without a grant', async () => {
    await createNode('d');
    await expect.poll(() => providerIdOf(admin, 'node-d')).toBe('inst://d');
    await patchNode('node-d', { metadata: { labels: { [GROUP]: null } } });
    await expect
      .poll(() => heldOf(admin, 'node-d'))
      .toBe(`True NotSelected: Node node-d does not have the labels ${GROUP}`);
    const { uid = '' } = (await admin.get(NODES, { name: 'node-d' })).metadata;
    await admin.delete(NODES, { name: 'node-d' }, { uid });
    await expect.poll(() => findMachine(admin, 'node-d')).toBeUndefined();
    const ledger = await admin.get<DefenderLedger>(DEFENDER_LEDGERS, { name: 'default' });
    expect(ledger.spec.grants ?? {}).toEqual({});
  });

  it('CAP-16 their account may list Nodes, and write none', async () => {
    const account = await bed.as(PRINCIPAL_EXTERNAL);
    await createNode('e', {});
    expect((await account.list(NODES)).items.map(({ metadata }) => metadata.name)).toContain('node-e');
    const target = { name: 'node-e' };
    const body = { metadata: { annotations: { x: 'y' } } };
    await expect(account.patch(NODES, target, { type: 'merge', body })).rejects.toMatchObject({
      code: 'Forbidden',
    });
    await expect(account.delete(NODES, target, { uid: 'any' })).rejects.toMatchObject({ code: 'Forbidden' });
  });

  /** As the kubelet of a new instance registers it. */
  async function createNode(id: string, labels: Readonly<Record<string, string>> = LABELS): Promise<void> {
    const name = `node-${id}`;
    const { apiVersion, kind, metadata, status } = node(name, 'True', { labels });
    await admin.create(NODES, { apiVersion, kind, metadata, spec: { providerID: `inst://${id}` } });
    await patchNodeStatus(admin, name, status);
  }

  async function patchNode(name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await admin.patch(NODES, { name }, { type: 'merge', body });
  }
});
