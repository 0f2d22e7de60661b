/** R23, R28: Leases of another tool and Pods, which a policy names or asks places for, on a real API server. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../../src/api/names.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NAMESPACES, PODS, SERVICE_ACCOUNTS } from '../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault, createMachineWithNode } from './objects.ts';
import { killed, kubenodeAs, startControllers } from './processes.ts';

const TOOL = 'medik8s-leases';
const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'all', per: 'Cluster', max: 20 }],
  zones: { haltPercent: 100, minNodes: 100 },
  // The Nodes of the test are created now.
  blockers: {
    minNodeAgeSeconds: 0,
    foreign: [{ lease: `${TOOL}/node-{node}` }],
    podLabels: ['app=database'],
  },
};

describe('machines on which others work', () => {
  let installed: InstalledServer;
  let controllers: ChildProcess | undefined;

  beforeAll(async () => {
    installed = await startInstalledServer();
    // The admission of Pods needs it, and no controller manager creates it here.
    await create(SERVICE_ACCOUNTS, { metadata: { namespace: 'default', name: 'default' } });
    for (const name of ['m-1', 'm-2']) await createMachineWithNode(installed.server.client, name);
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    controllers = startControllers(await installed.server.kubeconfigFor({ user, groups: ACCOUNTS }));
    // While the controllers run: the watches begin and end with what policies name.
    await applyFleetDefault(installed, POLICY);
  });

  afterAll(async () => {
    if (controllers) await killed(controllers);
    await installed?.stop();
  });

  it('R23 are left alone while a Lease of the other tool is held', async () => {
    await expect.poll(() => reasonFor('m-1')).toBe('granted');
    await create(NAMESPACES, { metadata: { name: TOOL } });
    const spec = { holderIdentity: 'node-healthcheck', leaseDurationSeconds: 3600, renewTime: now() };
    const lease = await create(LEASES, { metadata: { namespace: TOOL, name: 'node-m-1' }, spec });
    await expect.poll(() => reasonFor('m-1')).toBe(`ForeignOwner lease ${TOOL}/node-m-1`);
    expect(await reasonFor('m-2')).toBe('granted');
    await installed.server.client.delete(LEASES, lease.metadata, { uid: lease.metadata.uid ?? '' });
    await expect.poll(() => reasonFor('m-1')).toBe('granted');
  });

  it('R23 are left alone while a Pod with a label runs there that the policy names', async () => {
    await expect.poll(() => reasonFor('m-2')).toBe('granted');
    const containers = [{ name: 'db', image: 'db' }];
    const metadata = { namespace: 'default', name: 'db-0', labels: { app: 'database' } };
    const pod = await create(PODS, { metadata, spec: { nodeName: 'm-2', containers } });
    await expect.poll(() => reasonFor('m-2')).toBe('BlockedByPod app=database');
    await installed.server.client.delete(PODS, pod.metadata, {
      uid: pod.metadata.uid ?? '',
      gracePeriodSeconds: 0,
    });
    await expect.poll(() => reasonFor('m-2')).toBe('granted');
  });

  it('R23 are held when the policy names what cannot be read, and free again when it does not', async () => {
    const podLabels = ['app=database', `app=${'x'.repeat(64)}`];
    await applyFleetDefault(installed, { ...POLICY, blockers: { ...POLICY.blockers, podLabels } });
    await expect.poll(() => reasonFor('m-1')).toMatch(/^FactUnknown/);
    await applyFleetDefault(installed, POLICY);
    await expect.poll(() => reasonFor('m-1')).toBe('granted');
  });

  it('R28 are kept while a Pod of theirs fits nowhere, if the policy asks for it', async () => {
    await applyFleetDefault(installed, { ...POLICY, capacity: { simulateScheduling: true } });
    await expect.poll(() => reasonFor('m-1')).toBe('granted');
    const containers = [{ name: 'api', image: 'api', resources: { requests: { cpu: '64' } } }];
    const metadata = { namespace: 'default', name: 'api-0' };
    const pod = await create(PODS, { metadata, spec: { nodeName: 'm-1', containers } });
    await expect.poll(() => reasonFor('m-1')).toBe('PodsFitNowhere default/api-0');
    expect(await reasonFor('m-2')).toBe('granted');
    const { stdout, stderr } = await kubenodeAs(installed.server.kubeconfig, 'why', 'node', 'm-1');
    expect(stderr).toBe('');
    expect(stdout).toMatch(
      /DENIED +Reboot +PodsFitNowhere +fleet-default: Pods fit on no other node: default\/api-0: /,
    );
    expect(stdout).toContain('add machines on which the Pods of the message fit');
    const { uid = '' } = pod.metadata;
    await installed.server.client.delete(PODS, pod.metadata, { uid, gracePeriodSeconds: 0 });
    await expect.poll(() => reasonFor('m-1')).toBe('granted');
    await applyFleetDefault(installed, POLICY);
  });

  it('R28 keep a share free that the policy asks for, which admission limits to percentages', async () => {
    const asks = (cpu: number): Promise<void> =>
      applyFleetDefault(installed, { ...POLICY, capacity: { minFreePercent: { cpu } } });
    await expect(asks(101)).rejects.toThrow(/minFreePercent/);
    await asks(1);
    await expect.poll(() => reasonFor('m-1')).toBe('CapacityReserve cpu');
    await applyFleetDefault(installed, POLICY);
    await expect.poll(() => reasonFor('m-1')).toBe('granted');
  });

  async function reasonFor(machine: string): Promise<string> {
    const args = ['ask', machine, '--action', 'Reboot', '--dry-run', '-o', 'json'];
    const { code, stdout } = await kubenodeAs(installed.server.kubeconfig, 'defender', ...args);
    if (code === 0) return 'granted';
    const { reason, key } = JSON.parse(stdout) as Denied;
    return key === undefined ? reason : `${reason} ${key}`;
  }

  async function create(
    resource: Resource,
    object: Pick<KubeObject, 'metadata'> & { readonly spec?: object },
  ): Promise<KubeObject> {
    const { group, version, kind } = resource;
    const apiVersion = group === '' ? version : `${group}/${version}`;
    return await installed.server.client.create(resource, { apiVersion, kind, ...object });
  }
});

interface Denied {
  readonly reason: string;
  readonly key?: string;
}

/** As a MicroTime. */
function now(): string {
  return createSystemClock().now().toISOString().replace('Z', '000Z');
}
