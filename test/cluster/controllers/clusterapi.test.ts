/**
 * `kubenode controllers --cluster-api` on a real API server with the published CRDs of Cluster API. Their managers do not run: what they would
 * write is written here.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger, Machine } from '../../../src/api/generated/types.ts';
import { ANNOTATION_CONFIRM_DELETE, LABEL_MACHINE, PRINCIPAL_CLUSTERAPI } from '../../../src/api/names.ts';
import { clusterApiRoles } from '../../../src/api/roles/all.ts';
import { ANNOTATION_DRAIN_HOOK } from '../../../src/controllers/following/clusterapi/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { unlessMissing } from '../../../src/kube/client/errors.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { machine } from '../../support/builders.ts';
import { noClusterApiReason } from '../../support/cluster-api/crds.ts';
import {
  createTheirCluster,
  createTheirMachine,
  createTheirNamespace,
  serveClusterApi,
  THEIR_CLUSTERS,
} from '../../support/cluster-api/their-objects.ts';
import { THEIR_API_VERSION, THEIR_MACHINES } from '../../support/cluster-api/workload-cluster.ts';
import { createInstanceNode, findMachine, heldOf, providerIdOf, shownOn } from './followed-machines.ts';
import { type FollowingBed, startFollowing } from './following-bed.ts';

const NAMESPACE = 'fleet';
const OWNER = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'x', uid: 'x' };

describe.skipIf(noClusterApiReason)('Machines that follow those of Cluster API', () => {
  let bed: FollowingBed;
  let admin: Client;

  beforeAll(async () => {
    bed = await startFollowing(clusterApiRoles(), ['--cluster-api']);
    admin = bed.admin;
    await createTheirNamespace(admin);
    // Without the kinds of Cluster API the process runs, and reports it once.
    await bed.logs('cluster api is not read');
    await serveClusterApi(admin);
    await createTheirCluster(admin, 'c');
  });

  afterAll(async () => {
    await bed?.stop();
  });

  it('CAP-01 begin when its kinds appear, with the instance, the labels and the zone of theirs', async () => {
    await createFollowed('a');
    await expect.poll(() => providerIdOf(admin, 'node-a')).toBe('inst://a');
    const { spec, metadata, status } = await ours('node-a');
    expect(spec.infra).toEqual({
      provider: 'clusterapi',
      config: { namespace: NAMESPACE, name: 'md-a', providerID: 'inst://a' },
    });
    expect([metadata.labels?.['pool'], spec.zone]).toEqual(['general', 'zone-a']);
    expect(conditionOf(status?.conditions, 'InfraReady')).toMatchObject({
      status: 'True',
      message: 'instance inst://a belongs to Machine fleet/md-a of Cluster API',
    });
    await expect.poll(async () => (await nodeOf('node-a')).metadata.labels?.[LABEL_MACHINE]).toBe('node-a');
    expect(bed.logged().match(/cluster api is not read/g)).toHaveLength(1);
  });

  it('CAP-03 are held while their Cluster is paused, also after the process was killed', async () => {
    await createFollowed('b');
    await expect.poll(() => heldOf(admin, 'node-b')).toBe('False no hold applies');
    await patchTheirs(THEIR_CLUSTERS, 'c', { spec: { paused: true } });
    await expect
      .poll(() => heldOf(admin, 'node-b'))
      .toBe('True ClusterPaused: Cluster fleet/c of Cluster API is paused');
    await bed.kill();
    await patchTheirs(THEIR_CLUSTERS, 'c', { spec: { paused: false } });
    const { uid } = (await ours('node-b')).metadata;
    await bed.start();
    await expect.poll(() => heldOf(admin, 'node-b')).toBe('False no hold applies');
    expect((await ours('node-b')).metadata.uid).toBe(uid);
  });

  it('CAP-02 leave a Machine of a person alone, also when theirs is deleted', async () => {
    const { apiVersion, kind, spec } = machine('node-p');
    const theirsIs = /machine not followed[^\n]*NameTaken|NameTaken[^\n]*machine not followed/;
    await admin.create(MACHINES, {
      apiVersion,
      kind,
      metadata: { name: 'node-p' },
      spec: { ...spec, components: [] },
    });
    await createFollowed('p');
    await expect.poll(() => bed.logged()).toMatch(theirsIs);
    await deleteTheirs('md-p');
    await createFollowed('q');
    // What comes later is done: so is the deletion.
    await expect.poll(() => providerIdOf(admin, 'node-q')).toBe('inst://q');
    expect((await ours('node-p')).spec.infra.provider).toBe('local');
  });

  it('CAP-04 go with theirs without a grant, and leave the Node; one that a person deletes comes back', async () => {
    await createFollowed('d');
    await expect.poll(() => providerIdOf(admin, 'node-d')).toBe('inst://d');
    const before = await nodeOf('node-d');
    const { uid = '' } = (await ours('node-d')).metadata;
    await confirmDeletion('node-d', uid);
    await admin.delete(MACHINES, { name: 'node-d' }, { uid });
    await expect.poll(async () => (await findMachine(admin, 'node-d'))?.metadata.uid ?? uid).not.toBe(uid);
    await expect.poll(() => providerIdOf(admin, 'node-d')).toBe('inst://d');
    await patchTheirs(THEIR_MACHINES, 'md-d', { metadata: { finalizers: ['test/keep'] } });
    await deleteTheirs('md-d');
    await expect
      .poll(() => heldOf(admin, 'node-d'))
      .toBe('True MachineDeleting: Machine fleet/md-d of Cluster API is being deleted, and drained there');
    await patchTheirs(THEIR_MACHINES, 'md-d', { metadata: { finalizers: [] } });
    await expect.poll(() => findMachine(admin, 'node-d')).toBeUndefined();
    const after = await nodeOf('node-d');
    expect([after.metadata.uid, after['spec']]).toEqual([before.metadata.uid, before['spec']]);
    const ledger = await admin.get<DefenderLedger>(DEFENDER_LEDGERS, { name: 'default' });
    expect(ledger.spec.grants ?? {}).toEqual({});
  });

  it('CAP-20 show Cluster API the hold of a person, also while theirs is being deleted, and not after it', async () => {
    await createFollowed('h');
    await expect.poll(() => shownOn(admin, 'md-h')).toBe('no hook; True Steady');
    await holdOurs('node-h', { reason: 'forensics', scope: 'Disruptive' });
    await expect.poll(() => shownOn(admin, 'md-h')).toBe('held: forensics; True Held');
    await patchTheirs(THEIR_MACHINES, 'md-h', { metadata: { finalizers: ['test/keep'] } });
    await deleteTheirs('md-h');
    await expect.poll(() => isDeleting('md-h')).toBe(true);
    expect(await heldOf(admin, 'node-h')).not.toContain('MachineDeleting');
    await holdOurs('node-h', null);
    await expect.poll(() => shownOn(admin, 'md-h')).toMatch(/^no hook/);
    await expect.poll(() => heldOf(admin, 'node-h')).toMatch(/^True MachineDeleting/);
    // A person who holds it now comes too late: the last word is that of the one who deleted it.
    await holdOurs('node-h', { reason: 'too late', scope: 'Disruptive' });
    await createFollowed('i');
    await holdOurs('node-i', { reason: 'in time', scope: 'Disruptive' });
    await expect.poll(() => shownOn(admin, 'md-i')).toBe('held: in time; True Held');
    expect(await shownOn(admin, 'md-h')).toMatch(/^no hook/);
    await patchTheirs(THEIR_MACHINES, 'md-h', { metadata: { finalizers: [] } });
  });

  it.each<[string, object, string]>([
    [
      'the hook before a drain',
      { metadata: { annotations: { [ANNOTATION_DRAIN_HOOK]: 'an act' } } },
      'permitted',
    ],
    ['another hook', { metadata: { annotations: { [`${ANNOTATION_DRAIN_HOOK}s`]: 'an act' } } }, 'refused'],
    ['a pause', { metadata: { annotations: { 'cluster.x-k8s.io/paused': '' } } }, 'refused'],
    ['a label', { metadata: { labels: { pool: 'other' } } }, 'refused'],
    ['a finalizer', { metadata: { finalizers: ['test/keep'] } }, 'refused'],
    ['an owner', { metadata: { ownerReferences: [OWNER] } }, 'refused'],
    ['its version', { spec: { version: 'v1.40.0' } }, 'refused'],
    ['another provider ID', { spec: { providerID: 'inst://x' } }, 'refused'],
  ])('CAP-20 its account may write of a Machine of theirs %s: %j, %s', async (_, body, expected) => {
    if (!(await findTheirs('md-r'))) await createFollowed('r');
    const account = await bed.as(PRINCIPAL_CLUSTERAPI);
    const target = { namespace: NAMESPACE, name: 'md-r' };
    const patch = { type: 'merge', body: body as Readonly<Record<string, unknown>> } as const;
    const patched = account.patch(THEIR_MACHINES, target, patch, { dryRun: true });
    const answer = await patched.then(
      () => 'permitted',
      (error: unknown) => (/kubenode may change only/.test(String(error)) ? 'refused' : String(error)),
    );
    expect(answer).toBe(expected);
    // Others are not limited.
    await expect(admin.patch(THEIR_MACHINES, target, patch, { dryRun: true })).resolves.toBeDefined();
  });

  it.each<[string, readonly object[], string]>([
    ['its own condition', [condition('kubenode.dev/Steady', 'False')], 'permitted'],
    ['that of a hand-back on a healthy Machine', [condition('OwnerRemediated', 'False')], 'refused'],
    ['the result of a health check', [condition('HealthCheckSucceeded', 'False')], 'refused'],
    [
      'both at once',
      [condition('HealthCheckSucceeded', 'False'), condition('OwnerRemediated', 'False')],
      'refused',
    ],
    ['another condition', [condition('Ready', 'True')], 'refused'],
  ])(
    'CAP-20 its account may write of the status of a Machine of theirs %s: %j, %s',
    async (_, conditions, expected) => {
      if (!(await findTheirs('md-s'))) await createFollowed('s');
      const account = await bed.as(PRINCIPAL_CLUSTERAPI);
      const object = {
        apiVersion: THEIR_API_VERSION,
        kind: 'Machine',
        metadata: { namespace: NAMESPACE, name: 'md-s' },
        status: { conditions },
      };
      const options = { fieldManager: 'any', force: true, subresource: 'status', dryRun: true };
      const answer = await account.apply(THEIR_MACHINES, object, options).then(
        () => 'permitted',
        (error: unknown) => (/kubenode may (?:change|set) /.test(String(error)) ? 'refused' : String(error)),
      );
      expect(answer).toBe(expected);
      await expect(admin.apply(THEIR_MACHINES, object, options)).resolves.toBeDefined();
    },
  );

  it('CAP-02 its account may delete no other Machine, and write no Cluster of theirs', async () => {
    const account = await bed.as(PRINCIPAL_CLUSTERAPI);
    const { apiVersion, kind, spec } = machine('mine');
    await admin.create(MACHINES, {
      apiVersion,
      kind,
      metadata: { name: 'mine' },
      spec: { ...spec, components: [] },
    });
    const { uid = '' } = (await ours('mine')).metadata;
    await expect(account.delete(MACHINES, { name: 'mine' }, { uid })).rejects.toThrow(
      /protected: to delete mine/,
    );
    const paused = { type: 'merge', body: { spec: { paused: true } } } as const;
    await expect(
      account.patch(THEIR_CLUSTERS, { namespace: NAMESPACE, name: 'c' }, paused),
    ).rejects.toMatchObject({ code: 'Forbidden' });
    const target = { namespace: NAMESPACE, name: 'any' };
    await expect(account.delete(THEIR_MACHINES, target, { uid: 'any' })).rejects.toMatchObject({
      code: 'Forbidden',
    });
  });

  /** A Machine of theirs with its Node, as their managers leave it. */
  async function createFollowed(id: string): Promise<void> {
    await createInstanceNode(admin, id);
    await createTheirMachine(admin, id);
  }

  async function patchTheirs(
    resource: Resource,
    name: string,
    body: Readonly<Record<string, unknown>>,
  ): Promise<void> {
    await admin.patch(resource, { namespace: NAMESPACE, name }, { type: 'merge', body });
  }

  async function deleteTheirs(name: string): Promise<void> {
    const target = { namespace: NAMESPACE, name };
    const { uid = '' } = (await admin.get(THEIR_MACHINES, target)).metadata;
    await admin.delete(THEIR_MACHINES, target, { uid });
  }

  async function confirmDeletion(name: string, uid: string): Promise<void> {
    const body = { metadata: { annotations: { [ANNOTATION_CONFIRM_DELETE]: uid } } };
    await admin.patch(MACHINES, { name }, { type: 'merge', body });
  }

  async function ours(name: string): Promise<Machine> {
    return await admin.get<Machine>(MACHINES, { name });
  }

  async function findTheirs(name: string): Promise<KubeObject | undefined> {
    return await unlessMissing(admin.get(THEIR_MACHINES, { namespace: NAMESPACE, name }));
  }

  async function isDeleting(name: string): Promise<boolean> {
    return (await findTheirs(name))?.metadata.deletionTimestamp !== undefined;
  }

  async function holdOurs(name: string, hold: object | null, wait = {}): Promise<void> {
    await expect.poll(() => findMachine(admin, name), wait).toBeDefined();
    await admin.patch(MACHINES, { name }, { type: 'merge', body: { spec: { hold } } });
  }

  async function nodeOf(name: string): Promise<KubeObject> {
    return await admin.get(NODES, { name });
  }
});

function condition(type: string, status: string): object {
  return { type, status, reason: 'Test', message: '', lastTransitionTime: '2030-01-01T00:00:00Z' };
}
