/** The controllers of NodeRemediers and MachineComponents in `kubenode controllers` on a real API server, with the installed rights. */
import { type ChildProcess, spawn } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENTS, NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import type { MachineComponent, NodeRemedier } from '../../../src/api/generated/types.ts';
import {
  MANAGER_SYNC,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { remedier } from '../../support/remediers.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { endLease, killed } from '../defender/processes.ts';
import { ACCOUNTS } from './identity-controllers.ts';
import { withoutRights } from './rights.ts';

const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };

let installed: InstalledServer;
let kubeconfig: string;
let running: ChildProcess | undefined;
let logged = '';

beforeAll(async () => {
  installed = await startInstalledServer();
  const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
  kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
});

afterAll(async () => {
  if (running) await killed(running);
  await installed?.stop();
});

/** A new process, with a log of its own. */
async function restart(): Promise<void> {
  if (running) await killed(running);
  await endLease(installed.server.client);
  logged = '';
  const args = ['src/cli/main.ts', 'controllers', '--kubeconfig', kubeconfig, '--log-level', 'warn'];
  running = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  running.stderr?.on('data', (chunk: Buffer) => {
    logged += chunk.toString();
  });
}

/** Only sync may apply rules. */
async function apply(object: KubeObject): Promise<void> {
  const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
  const resource = object.kind === 'NodeRemedier' ? NODE_REMEDIERS : MACHINE_COMPONENTS;
  await sync.apply(resource, object, { fieldManager: MANAGER_SYNC });
}

async function phaseOf(name: string): Promise<string | undefined> {
  const { status } = await installed.server.client.get<NodeRemedier>(NODE_REMEDIERS, { name });
  return status?.phase;
}

describe('the remedy controller', () => {
  it('accepts a rule of sync with its commit, and refuses one whose tests fail', async () => {
    await restart();
    await apply(remedier({}, { name: 'good', annotations: COMMIT }));
    await apply(remedier({ '/rule/gate/all/0/operator': 'lessThan' }, { name: 'bad' }));
    await expect.poll(() => phaseOf('good')).toBe('Enforcing');
    await expect.poll(() => phaseOf('bad')).toBe('Refused');
    const { status, metadata } = await installed.server.client.get<NodeRemedier>(NODE_REMEDIERS, {
      name: 'good',
    });
    expect(status).toMatchObject({ commit: '4f2c9e1a77b0', observedGeneration: metadata.generation });
  });

  it.each<[right: string, account: string, resource: string, error: RegExp]>([
    [
      'to write its status',
      PRINCIPAL_REMEDY,
      'noderemediers/status',
      /noderemediers\.kubenode\.dev \W+late-0\W+ is forbidden/,
    ],
    // The Defender of the same process reads them.
    ['to read its kind', PRINCIPAL_DEFENDER, 'noderemediers', /noderemediers\.kubenode\.dev is forbidden/],
  ])(
    'writes nothing without the right %s, logs it, and continues with it',
    async (right, account, removed, error) => {
      const name = `late-${right === 'to write its status' ? 0 : 1}`;
      const giveBack = await withoutRights(installed.server.client, account, removed);
      await restart();
      await apply(remedier({}, { name }));
      await expect.poll(() => logged).toMatch(error);
      expect(await phaseOf(name)).toBeUndefined();
      await giveBack();
      await expect.poll(() => phaseOf(name)).toBe('Held');
    },
  );
});

function component(version: string, content: string): KubeObject {
  const files = [{ path: '/etc/a', content }];
  const metadata = { name: `proxy-${version}` };
  const spec = { component: 'proxy', version, files };
  return { apiVersion: 'kubenode.dev/v1alpha1', kind: 'MachineComponent', metadata, spec };
}

async function statusOf(version: string): Promise<MachineComponent['status']> {
  const name = `proxy-${version}`;
  return (await installed.server.client.get<MachineComponent>(MACHINE_COMPONENTS, { name })).status;
}

describe('the controller of MachineComponents', () => {
  it('accepts a version with its digest, and refuses one that no agent can use', async () => {
    await restart();
    await apply(component('1.0', '${dir}'));
    await apply(component('2.0', '${dri}'));
    await expect.poll(async () => (await statusOf('1.0'))?.phase).toBe('Unused');
    await expect.poll(async () => (await statusOf('2.0'))?.phase).toBe('Refused');
    expect((await statusOf('1.0'))?.digest).toMatch(/^sha256:/);
  });

  it('writes nothing without the right to write its status, logs it, and continues with it', async () => {
    const { client } = installed.server;
    const giveBack = await withoutRights(client, PRINCIPAL_COMPONENTSET, 'machinecomponents/status');
    await restart();
    await apply(component('3.0', '${dir}'));
    await expect.poll(() => logged).toMatch(/cannot patch resource \W+machinecomponents\/status/);
    expect(await statusOf('3.0')).toBeUndefined();
    await giveBack();
    await expect.poll(async () => (await statusOf('3.0'))?.phase).toBe('Unused');
  });
});
