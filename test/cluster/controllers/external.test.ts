/**
 * `kubenode controllers --external-nodes` on a real API server with the published CRD of NodeClaims. Karpenter does not run: what it would
 * write is written here. karpenter.test.ts has the real one.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger, Machine } from '../../../src/api/generated/types.ts';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { PRINCIPAL_EXTERNAL } from '../../../src/api/names.ts';
import { externalNodesRoles } from '../../../src/api/roles/all.ts';
import {
  ANNOTATION_DO_NOT_DISRUPT,
  NODE_CLAIMS,
  TAINT_DISRUPTED,
} from '../../../src/controllers/following/karpenter/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { waitUntilServed } from '../../../src/kube/client/served.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { machine, node } from '../../support/builders.ts';
import { nodeClaimCrd, noKarpenterReason } from '../../support/karpenter/crds.ts';
import { patchNodeStatus } from '../defender/objects.ts';
import { findMachine, heldOf, providerIdOf } from './followed-machines.ts';
import { type FollowingBed, startFollowing } from './following-bed.ts';

const API_VERSION = `${NODE_CLAIMS.group}/${NODE_CLAIMS.version}`;
const LABELS = { 'karpenter.sh/nodepool': 'general', 'topology.kubernetes.io/zone': 'zone-a' };

describe.skipIf(noKarpenterReason)('Machines that follow Nodes of Karpenter', () => {
  let bed: FollowingBed;
  let admin: Client;

  beforeAll(async () => {
    bed = await startFollowing(externalNodesRoles(), ['--external-nodes']);
    admin = bed.admin;
    // Without the kind the process runs, and reports it once.
    await bed.logs('karpenter is not read');
    const crd = await nodeClaimCrd();
    await admin.apply(resourceOf(crd), crd, { fieldManager: 'helm' });
    const served = { apiVersion: API_VERSION, kind: NODE_CLAIMS.kind };
    await waitUntilServed(admin, createSystemClock(), served, AbortSignal.timeout(60_000));
  });

  afterAll(async () => {
    await bed?.stop();
  });

  it('CAP-11 begin when its kind appears, with the instance, the labels and the zone of the NodeClaim', async () => {
    await createClaimed('a');
    await expect.poll(() => providerIdOf(admin, 'node-a')).toBe('inst://a');
    const { spec, metadata, status } = await ours('node-a');
    expect(spec.infra).toEqual({
      provider: 'external',
      config: { kind: 'NodeClaim', name: 'general-a', providerID: 'inst://a' },
    });
    expect([metadata.labels?.['karpenter.sh/nodepool'], spec.zone]).toEqual(['general', 'zone-a']);
    expect(conditionOf(status?.conditions, 'InfraReady')).toMatchObject({
      status: 'True',
      message: 'instance inst://a belongs to NodeClaim general-a of Karpenter',
    });
    expect(bed.logged().match(/karpenter is not read/g)).toHaveLength(1);
  });

  it('CAP-13 are held by the taint and the annotation of Karpenter, also after the process was killed', async () => {
    await createClaimed('b');
    await expect.poll(() => heldOf(admin, 'node-b')).toBe('False no hold applies');
    await patchNode('node-b', { spec: { taints: [{ key: TAINT_DISRUPTED, effect: 'NoSchedule' }] } });
    await expect
      .poll(() => heldOf(admin, 'node-b'))
      .toBe(`True NodeDisrupted: Node node-b has the taint ${TAINT_DISRUPTED}`);
    await bed.kill();
    await patchNode('node-b', { spec: { taints: null } });
    const { uid } = (await ours('node-b')).metadata;
    await bed.start();
    await expect.poll(() => heldOf(admin, 'node-b')).toBe('False no hold applies');
    expect((await ours('node-b')).metadata.uid).toBe(uid);
    await patchClaim('general-b', { metadata: { annotations: { [ANNOTATION_DO_NOT_DISRUPT]: 'true' } } });
    await expect
      .poll(() => heldOf(admin, 'node-b'))
      .toBe(
        `True DoNotDisrupt: NodeClaim general-b of Karpenter has the annotation ${ANNOTATION_DO_NOT_DISRUPT}`,
      );
  });

  it('CAP-14 go with the NodeClaim without a grant, and leave the Node', async () => {
    await createClaimed('d');
    await expect.poll(() => providerIdOf(admin, 'node-d')).toBe('inst://d');
    await patchClaim('general-d', { metadata: { finalizers: ['karpenter.sh/termination'] } });
    const { uid = '' } = (await admin.get(NODE_CLAIMS, { name: 'general-d' })).metadata;
    await admin.delete(NODE_CLAIMS, { name: 'general-d' }, { uid });
    await expect
      .poll(() => heldOf(admin, 'node-d'))
      .toBe(
        'True NodeClaimDeleting: NodeClaim general-d of Karpenter is being deleted, and its Node is drained there',
      );
    const before = await admin.get(NODES, { name: 'node-d' });
    await patchClaim('general-d', { metadata: { finalizers: [] } });
    await expect.poll(() => findMachine(admin, 'node-d')).toBeUndefined();
    const after = await admin.get(NODES, { name: 'node-d' });
    expect([after.metadata.uid, after['spec']]).toEqual([before.metadata.uid, before['spec']]);
    const ledger = await admin.get<DefenderLedger>(DEFENDER_LEDGERS, { name: 'default' });
    expect(ledger.spec.grants ?? {}).toEqual({});
  });

  it('CAP-12 its account may delete no other Machine, and write no NodeClaim', async () => {
    const account = await bed.as(PRINCIPAL_EXTERNAL);
    const { apiVersion, kind, spec } = machine('mine');
    const metadata = { name: 'mine' };
    await admin.create(MACHINES, { apiVersion, kind, metadata, spec: { ...spec, components: [] } });
    const { uid = '' } = (await ours('mine')).metadata;
    await expect(account.delete(MACHINES, metadata, { uid })).rejects.toThrow(/protected: to delete mine/);
    const followed = {
      ...spec,
      components: [],
      infra: { provider: 'clusterapi', config: { namespace: 'fleet', name: 'md-1', providerID: 'inst://1' } },
    };
    await admin.create(MACHINES, { apiVersion, kind, metadata: { name: 'theirs' }, spec: followed });
    const other = (await ours('theirs')).metadata.uid ?? '';
    await expect(account.delete(MACHINES, { name: 'theirs' }, { uid: other })).rejects.toThrow(/protected/);
    const body = { metadata: { annotations: { [ANNOTATION_DO_NOT_DISRUPT]: 'true' } } };
    const claim = { name: 'general-a' };
    await expect(account.patch(NODE_CLAIMS, claim, { type: 'merge', body })).rejects.toMatchObject({
      code: 'Forbidden',
    });
    await expect(account.delete(NODE_CLAIMS, claim, { uid: 'any' })).rejects.toMatchObject({
      code: 'Forbidden',
    });
  });

  /** A NodeClaim with its Node, as Karpenter leaves them. */
  async function createClaimed(id: string): Promise<void> {
    const { apiVersion, kind, metadata, status } = node(`node-${id}`);
    await admin.create(NODES, { apiVersion, kind, metadata, spec: { providerID: `inst://${id}` } });
    await patchNodeStatus(admin, `node-${id}`, status);
    const name = `general-${id}`;
    await admin.create(NODE_CLAIMS, {
      apiVersion: API_VERSION,
      kind: NODE_CLAIMS.kind,
      metadata: { name, labels: LABELS },
      spec: {
        nodeClassRef: { group: 'karpenter.kwok.sh', kind: 'KWOKNodeClass', name: 'default' },
        requirements: [{ key: 'karpenter.sh/nodepool', operator: 'In', values: ['general'] }],
      },
    });
    const body = { status: { providerID: `inst://${id}`, nodeName: `node-${id}` } };
    await admin.patch(NODE_CLAIMS, { name }, { type: 'merge', body }, { subresource: 'status' });
  }

  async function patchClaim(name: string, body: Readonly<Record<string, unknown>>): Promise<void> {
    await admin.patch(NODE_CLAIMS, { name }, { type: 'merge', body });
  }

  async function patchNode(name: string, body: Readonly<Record<string, unknown>>): Promise<KubeObject> {
    return await admin.patch(NODES, { name }, { type: 'merge', body });
  }

  async function ours(name: string): Promise<Machine> {
    return await admin.get<Machine>(MACHINES, { name });
  }
});
