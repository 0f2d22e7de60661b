/** A version that fails, on a real API server: the breaker, its denials, and the Event about it. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DEFENDER_LEDGERS, DEFENDER_POLICIES, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger, DefenderPolicy } from '../../../src/api/generated/types.ts';
import {
  FLEET_DEFAULT,
  MANAGER_SYNC,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { machine, node } from '../../support/builders.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { type Ended, killed, kubenodeAs, startControllers } from './processes.ts';

const ACCOUNTS = ['system:serviceaccounts', 'system:serviceaccounts:kubenode-system'];
const PATIENCE = { timeout: 120_000, interval: 250 };
const MINUTES = 600_000;
const NAMES = Array.from({ length: 28 }, (_, index) => `m-${index + 1}`);
const UPDATED = NAMES.slice(0, 5);

const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'all', per: 'Cluster', max: 20 }],
  breakers: [
    {
      name: 'cause',
      type: 'CommonCause',
      per: 'Cluster',
      count: 3,
      withinSeconds: 600,
      dimensions: ['kubeletVersion', 'componentVersion'],
    },
  ],
  zones: { haltPercent: 100, minNodes: 100 },
  // The Nodes of the test are created now.
  blockers: { minNodeAgeSeconds: 0 },
};

describe('a common cause in a cluster', { timeout: MINUTES }, () => {
  let installed: InstalledServer;
  let controllers: ChildProcess | undefined;

  beforeAll(async () => {
    installed = await startInstalledServer();
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    const { apiVersion, kind } = { apiVersion: 'kubenode.dev/v1alpha1', kind: DEFENDER_POLICIES.kind };
    const policy = { apiVersion, kind, metadata: { name: FLEET_DEFAULT }, spec: POLICY };
    await sync.apply(DEFENDER_POLICIES, policy, { fieldManager: MANAGER_SYNC });
    for (const name of NAMES) await createMachine(name);
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    controllers = startControllers(await installed.server.kubeconfigFor({ user, groups: ACCOUNTS }));
  }, MINUTES);

  afterAll(async () => {
    if (controllers) await killed(controllers);
    await installed?.stop();
  });

  it('R21 opens one breaker for the version that failed, denies its machines, and lets all others be repaired', async () => {
    await expect.poll(phase, PATIENCE).toBe('InForce');
    for (const name of UPDATED) await patchStatus(name, 'False');
    await expect.poll(phase, PATIENCE).toBe('BreakerOpen');
    const ledger = await installed.server.client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: 'default' });
    expect(Object.keys(ledger.spec.breakers)).toEqual(['fleet-default/cause/kubeletVersion=v1.35.0']);
    const denied = await defender('ask', 'm-1', '--action', 'Reboot', '-o', 'json');
    expect(JSON.parse(denied.stdout)).toMatchObject({
      reason: 'CommonCause',
      message: expect.stringMatching(
        /^breaker cause of kubeletVersion v1\.35\.0 is open: \d of \d machines with fault Ready within 600 s have it, and 17\.9 % of the fleet$/,
      ) as string,
    });
    for (const [name, action] of [
      ['m-28', 'Reboot'],
      ['m-1', 'CleanDisk'],
    ] as const) {
      const permitted = await defender('ask', name, '--action', action, '--dry-run');
      expect([permitted.stderr, permitted.code]).toEqual(['', 0]);
    }
    await expect
      .poll(notes, PATIENCE)
      .toEqual([expect.stringMatching(/^breaker cause\/kubeletVersion=v1\.35\.0 opened: /) as string]);
    const closing = ['close', 'cause/kubeletVersion=v1.35.0', '--reason', 'rolled back'];
    expect((await defender(...closing)).stdout).toContain('closed');
  });

  async function phase(): Promise<string | undefined> {
    const { client } = installed.server;
    return (await client.get<DefenderPolicy>(DEFENDER_POLICIES, { name: FLEET_DEFAULT })).status?.phase;
  }

  async function notes(): Promise<readonly string[]> {
    const { items } = await installed.server.client.list(EVENTS);
    const opened = items.filter((event) => textAt(event, 'reason')?.endsWith('BreakerOpened'));
    return opened.map((event) => textAt(event, 'note') ?? '');
  }

  async function defender(...args: string[]): Promise<Ended> {
    return kubenodeAs(installed.server.kubeconfig, 'defender', ...args);
  }

  async function createMachine(name: string): Promise<void> {
    const { apiVersion, kind, spec } = machine(name);
    const object = { apiVersion, kind, metadata: { name }, spec: { ...spec, components: [] } };
    await installed.server.client.create(MACHINES, object);
    const { status: _, ...its } = node(name);
    await installed.server.client.create(NODES, its);
    await patchStatus(name, 'True');
  }

  async function patchStatus(name: string, ready: 'True' | 'False'): Promise<void> {
    const nodeInfo = { kubeletVersion: UPDATED.includes(name) ? 'v1.35.0' : 'v1.34.2' };
    const conditions = listAt(node(name, ready), 'status', 'conditions');
    const body = { status: { nodeInfo, conditions } };
    const target = { ...NODES, plural: 'nodes' };
    await installed.server.client.patch(target, { name }, { type: 'merge', body }, { subresource: 'status' });
  }
});
