/**
 * `kubenode controllers --external-nodes` beside the real Karpenter with its kwok provider. A stand-in makes its Nodes Ready, and the verdict of
 * a scheduler is written here; everything else is done by Karpenter.
 */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  DEFENDER_LEDGERS,
  MACHINES,
  MAINTENANCE_EVENTS,
  NODE_REMEDIERS,
  REMEDY_OPERATION_JOBS,
} from '../../../src/api/generated/resources.ts';
import type { DefenderLedger, Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { resourceOf } from '../../../src/api/install/objects.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import {
  ANNOTATION_OWNER_HOLD,
  MANAGER_INSTALL,
  MANAGER_SYNC,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { externalNodesRoles } from '../../../src/api/roles/all.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { NODE_CLAIMS } from '../../../src/controllers/following/karpenter/contract.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { eventually } from '../../support/eventually.ts';
import { shippedMaintenanceRule } from '../../support/faults/fault-rules.ts';
import { noKarpenterReason } from '../../support/karpenter/crds.ts';
import {
  noKarpenterProgramReason,
  type RunningKarpenter,
  startKarpenter,
} from '../../support/karpenter/karpenter.ts';
import { type KwokKubelets, startKwokKubelets } from '../../support/karpenter/kubelet.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault, patchNodeStatus } from '../defender/objects.ts';
import { killed, kubenodeAs, startLoggedControllers } from '../defender/processes.ts';
import { createBudget, createPod, deleteBudget, ensureAccount } from './budgeted-pod.ts';
import { findMachine, heldOf } from './followed-machines.ts';
import { POLICY } from './machine-cluster.ts';

const KWOK: Resource = {
  group: 'karpenter.kwok.sh',
  version: 'v1alpha1',
  kind: 'KWOKNodeClass',
  plural: 'kwoknodeclasses',
  namespaced: false,
};
const POOLS: Resource = { ...NODE_CLAIMS, kind: 'NodePool', plural: 'nodepools' };
/** Karpenter decides on a disruption every 10 seconds, validates it for 15, and drains for 5. */
const DISRUPTED = { interval: 500 };
const reason = noKarpenterReason ?? (await noKarpenterProgramReason());

describe.skipIf(reason)('Machines beside Karpenter, which runs', () => {
  let installed: InstalledServer;
  let admin: Client;
  let karpenter: RunningKarpenter | undefined;
  let kubelets: KwokKubelets | undefined;
  let controllers: ChildProcess | undefined;
  let logged = '';

  beforeAll(async () => {
    installed = await startInstalledServer();
    admin = installed.server.client;
    for (const object of externalNodesRoles()) {
      await admin.apply(resourceOf(object), object, { fieldManager: MANAGER_INSTALL });
    }
    await applyFleetDefault(installed, { ...POLICY, blockers: { minNodeAgeSeconds: 0 } });
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    await sync.apply(NODE_REMEDIERS, shippedMaintenanceRule(), { fieldManager: MANAGER_SYNC });
    await ensureAccount(admin);
    karpenter = await startKarpenter(installed.server);
    kubelets = startKwokKubelets(admin);
    const apiVersion = `${KWOK.group}/${KWOK.version}`;
    await admin.create(KWOK, { apiVersion, kind: KWOK.kind, metadata: { name: 'default' }, spec: {} });
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    // The labels match the Nodes of Karpenter, too: these are left out.
    const flags = ['--external-nodes', '--external-nodes-selector', 'pool'];
    controllers = startLoggedControllers(kubeconfig, (text) => (logged += text), ...flags);
  });

  afterAll(async () => {
    if (controllers) await killed(controllers);
    await kubelets?.stop();
    await karpenter?.stop();
    await installed?.stop();
  });

  it('CAP-15 get the Node of a pending pod, are held while it is drained, and go with the NodeClaim', async () => {
    await createPool('kept', 'Never');
    const { claim, node } = await provision('kept');
    await expect.poll(() => heldOf(admin, node), DISRUPTED).toBe('False no hold applies');
    const ours = await machineOf(node);
    const providerID = `kwok://${node}`;
    expect(ours.spec.infra).toEqual({
      provider: 'external',
      config: { kind: 'NodeClaim', name: claim, providerID },
    });
    expect(ours.metadata.labels).toMatchObject({ 'karpenter.sh/nodepool': 'kept', pool: 'kept' });
    expect(ours.spec.zone).toBe((await admin.get(NODES, { name: node })).metadata.labels?.[ZONE]);
    const config = installed.server.kubeconfig;
    const held = await kubenodeAs(config, 'machine', 'hold', node, '--reason', 'new disks');
    expect(held.code).toBe(0);
    await expect.poll(() => heldOf(admin, node)).toBe('True new disks');
    await createBudget(admin);
    await createPod(admin, node);
    await deleteNamed(NODE_CLAIMS, claim);
    // The hold of a person comes first, stays, and keeps nothing of Karpenter.
    await expect.poll(() => ownerHoldOf(node), DISRUPTED).toMatch(/^NodeClaimDeleting: /);
    expect(await heldOf(admin, node)).toBe('True new disks');
    await expect.poll(() => taintsOf(node), DISRUPTED).toContain('karpenter.sh/disrupted');
    expect(await theirWriters(claim)).not.toContain('kubenode');
    expect((await machineOf(node)).metadata.uid).toBe(ours.metadata.uid);
    await deleteBudget(admin);
    await expect.poll(() => findMachine(admin, node), DISRUPTED).toBeUndefined();
    await expect.poll(() => names(NODES), DISRUPTED).not.toContain(node);
    expect(logged).not.toContain('machine not followed');
    expect((await grants())[node]).toBeUndefined();
  });

  it('CAP-15 go when Karpenter consolidates an empty Node by its own decision', async () => {
    await createPool('empty', '0s');
    const { claim, node } = await provision('empty');
    await expect.poll(() => heldOf(admin, node), DISRUPTED).toBe('False no hold applies');
    await deletePod('empty');
    await expect.poll(() => findMachine(admin, node), DISRUPTED).toBeUndefined();
    expect(await names(NODE_CLAIMS)).not.toContain(claim);
    expect((await grants())[node]).toBeUndefined();
  });

  it('CAP-15 go in the middle of a drain of kubenode, whose grant is returned', async () => {
    await createPool('repaired', 'Never');
    const { claim, node } = await provision('repaired');
    await expect.poll(() => heldOf(admin, node), DISRUPTED).toBe('False no hold applies');
    await createBudget(admin);
    await createPod(admin, node);
    await patchNodeStatus(admin, node, { nodeInfo: { bootID: 'boot-1' } });
    await announceReboot(node);
    await expect.poll(async () => isCordoned(await admin.get(NODES, { name: node })), DISRUPTED).toBe(true);
    expect((await grants())[node]?.state).toBe('Started');
    await deleteNamed(NODE_CLAIMS, claim);
    await expect.poll(() => ownerHoldOf(node), DISRUPTED).toMatch(/^NodeClaimDeleting: /);
    expect(await theirWriters(claim)).not.toContain('kubenode');
    const grant = async (): Promise<string | undefined> => (await grants())[node]?.state;
    await expect.poll(grant, DISRUPTED).toBe('Settled');
    expect(await names(NODES)).toContain(node);
    await deleteBudget(admin);
    await expect.poll(() => findMachine(admin, node), DISRUPTED).toBeUndefined();
    await expect.poll(() => names(NODES), DISRUPTED).not.toContain(node);
    const { items } = await admin.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
    const outcomes = items.map(({ status }) => status?.outcome);
    expect(outcomes).toMatchObject([{ class: 'Cancelled', reason: 'Held' }]);
    expect(outcomes[0]?.message).toContain(`NodeClaim ${claim} of Karpenter is being deleted`);
  });

  /** A drain of kubenode follows, by the rule that ships. */
  async function announceReboot(name: string): Promise<void> {
    await admin.create(MAINTENANCE_EVENTS, {
      apiVersion: API_VERSION,
      kind: MAINTENANCE_EVENTS.kind,
      metadata: { name: 'external-e-1' },
      spec: { provider: 'external', eventID: 'e-1', machine: name, type: 'Reboot', state: 'Scheduled' },
    });
  }

  async function createPool(name: string, consolidateAfter: string): Promise<void> {
    const { group, kind } = KWOK;
    const requirements = [
      { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
      { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['spot'] },
    ];
    await admin.create(POOLS, {
      apiVersion: `${POOLS.group}/${POOLS.version}`,
      kind: POOLS.kind,
      metadata: { name },
      spec: {
        template: {
          metadata: { labels: { pool: name } },
          spec: { requirements, nodeClassRef: { group, kind, name: 'default' }, expireAfter: 'Never' },
        },
        disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter },
      },
    });
  }

  /** A pod that a scheduler has found no Node for, and what Karpenter creates for it. */
  async function provision(pool: string): Promise<{ readonly claim: string; readonly node: string }> {
    const pod = { apiVersion: 'v1', kind: 'Pod' };
    const metadata = { name: pool, namespace: 'default' };
    const resources = { requests: { cpu: '1' } };
    const containers = [{ name: 'main', image: 'x', resources }];
    const spec = { nodeSelector: { pool }, automountServiceAccountToken: false, containers };
    await admin.create(PODS, { ...pod, metadata, spec });
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable' }];
    const body = { status: { conditions } };
    await admin.patch(PODS, metadata, { type: 'merge', body }, { subresource: 'status' });
    return await eventually(async () => {
      const { items } = await admin.list(NODE_CLAIMS, { labelSelector: `karpenter.sh/nodepool=${pool}` });
      const [found] = items;
      const node = textAt(found, 'status', 'nodeName');
      return found && node ? { claim: found.metadata.name, node } : undefined;
    }, `Karpenter creates no Node: ${karpenter?.logFile}`);
  }

  async function deletePod(name: string): Promise<void> {
    const target = { name, namespace: 'default' };
    const { uid = '' } = (await admin.get(PODS, target)).metadata;
    await admin.delete(PODS, target, { uid });
  }

  async function deleteNamed(resource: Resource, name: string): Promise<void> {
    const { uid = '' } = (await admin.get(resource, { name })).metadata;
    await admin.delete(resource, { name }, { uid });
  }

  async function machineOf(name: string): Promise<Machine> {
    return await admin.get<Machine>(MACHINES, { name });
  }

  async function ownerHoldOf(name: string): Promise<string | undefined> {
    return (await findMachine(admin, name))?.metadata.annotations?.[ANNOTATION_OWNER_HOLD];
  }

  async function taintsOf(name: string): Promise<string> {
    return JSON.stringify((await admin.get(NODES, { name }))['spec']);
  }

  async function theirWriters(claim: string): Promise<string> {
    return JSON.stringify((await admin.get(NODE_CLAIMS, { name: claim })).metadata.managedFields);
  }

  async function names(resource: Resource): Promise<readonly string[]> {
    return (await admin.list(resource)).items.map(({ metadata }) => metadata.name);
  }

  async function grants(): Promise<NonNullable<DefenderLedger['spec']['grants']>> {
    return (await admin.get<DefenderLedger>(DEFENDER_LEDGERS, { name: 'default' })).spec.grants ?? {};
  }
});

const ZONE = 'topology.kubernetes.io/zone';
