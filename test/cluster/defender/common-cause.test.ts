/** A version that fails, on a real API server: the breaker, its denials, and the Event about it. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PRINCIPAL_CONTROLLERS, serviceAccountUser } from '../../../src/api/names.ts';
import { EVENTS } from '../../../src/kube/events/object.ts';
import { listAt, textAt } from '../../../src/kube/objects/json.ts';
import { node } from '../../support/builders.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import {
  ACCOUNTS,
  applyFleetDefault,
  createMachineWithNode,
  patchNodeStatus,
  readLedger,
  readPolicy,
} from './objects.ts';
import { type Ended, killed, kubenodeAs, startControllers } from './processes.ts';

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

describe('a common cause in a cluster', () => {
  let installed: InstalledServer;
  let controllers: ChildProcess | undefined;

  beforeAll(async () => {
    installed = await startInstalledServer();
    await applyFleetDefault(installed, POLICY);
    for (const name of NAMES) {
      await createMachineWithNode(installed.server.client, name, statusOf(name, 'True'));
    }
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    controllers = startControllers(await installed.server.kubeconfigFor({ user, groups: ACCOUNTS }));
  });

  afterAll(async () => {
    if (controllers) await killed(controllers);
    await installed?.stop();
  });

  it('R21 opens one breaker for the version that failed, denies its machines, and lets all others be repaired', async () => {
    await expect.poll(phase).toBe('InForce');
    for (const name of UPDATED) await patchNodeStatus(installed.server.client, name, statusOf(name, 'False'));
    await expect.poll(phase).toBe('BreakerOpen');
    const ledger = await readLedger(installed.server.client);
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
      .poll(notes)
      .toEqual([expect.stringMatching(/^breaker cause\/kubeletVersion=v1\.35\.0 opened: /) as string]);
    const closing = ['close', 'cause/kubeletVersion=v1.35.0', '--reason', 'rolled back'];
    expect((await defender(...closing)).stdout).toContain('closed');
  });

  async function phase(): Promise<string | undefined> {
    return (await readPolicy(installed.server.client)).status?.phase;
  }

  async function notes(): Promise<readonly string[]> {
    const { items } = await installed.server.client.list(EVENTS);
    const opened = items.filter((event) => textAt(event, 'reason')?.endsWith('BreakerOpened'));
    return opened.map((event) => textAt(event, 'note') ?? '');
  }

  async function defender(...args: string[]): Promise<Ended> {
    return kubenodeAs(installed.server.kubeconfig, 'defender', ...args);
  }
});

function statusOf(name: string, ready: 'True' | 'False'): object {
  const nodeInfo = { kubeletVersion: UPDATED.includes(name) ? 'v1.35.0' : 'v1.34.2' };
  return { nodeInfo, conditions: listAt(node(name, ready), 'status', 'conditions') };
}
