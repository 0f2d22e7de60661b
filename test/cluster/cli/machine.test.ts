import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import {
  ANNOTATION_HOLD,
  ANNOTATION_OWNER_HOLD,
  ANNOTATION_REPLACE_MACHINE,
  MANAGER_SYNC,
  ROLE_OPERATOR,
} from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import {
  type ComponentVersion,
  resolveRevision,
} from '../../../src/controllers/componentset/revision/resolve.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import {
  assign,
  declareMachine,
  declareSet,
  declareVersion,
  reportMachine,
  reportSet,
  run,
} from './rollout-fixture.ts';

let installed: InstalledServer;
let client: Client;
const SINCE = '2030-01-01T00:00:00Z';

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
});
afterAll(() => installed?.stop());

const RBAC = { group: 'rbac.authorization.k8s.io', version: 'v1', namespaced: false } as const;
const ROLES: Resource = { ...RBAC, kind: 'ClusterRole', plural: 'clusterroles' };
const BINDINGS: Resource = { ...RBAC, kind: 'ClusterRoleBinding', plural: 'clusterrolebindings' };

async function bindRole(user: string, role: string): Promise<void> {
  const apiGroup = RBAC.group;
  await client.create(BINDINGS, {
    apiVersion: `${apiGroup}/v1`,
    kind: BINDINGS.kind,
    metadata: { name: `${user}-${role}` },
    roleRef: { apiGroup, kind: ROLES.kind, name: role },
    subjects: [{ apiGroup, kind: 'User', name: user }],
  });
}

const read = (name: string): Promise<Machine> => client.get<Machine>(MACHINES, { name });

describe('machine hold and release', () => {
  it('holds a machine and releases it, and changes nothing in a dry run', async () => {
    await declareMachine(client, 'held');
    expect((await run(installed, 'machine', 'hold', 'held', '--reason', 'disks', '--dry-run')).exitCode).toBe(
      0,
    );
    expect((await read('held')).spec.hold).toBeUndefined();

    const held = await run(
      installed,
      'machine',
      'hold',
      'held',
      '--reason',
      'disks',
      '--scope',
      'All',
      '--for',
      '2h',
    );
    expect([held.exitCode, held.stderr]).toEqual([0, '']);
    const { hold } = (await read('held')).spec;
    expect(hold).toMatchObject({ reason: 'disks', scope: 'All' });
    expect(hold?.until).toMatch(/^20.*Z$/);
    const again = await run(installed, 'machine', 'hold', 'held', '--reason', 'memory');
    expect(again.stdout).toContain('It was held before: disks');
    expect((await read('held')).spec.hold).toEqual({ reason: 'memory', scope: 'Disruptive' });

    expect((await run(installed, 'machine', 'release', 'held')).stdout).toBe('held is released\n');
    expect((await read('held')).spec.hold).toBeUndefined();
    expect((await run(installed, 'machine', 'release', 'held')).stdout).toContain('is not held');
  });

  it('releases a machine that another person holds, in the spec or by the annotation', async () => {
    await declareMachine(client, 'annotated', { hold: { reason: 'x', scope: 'All' } });
    const body = { metadata: { annotations: { [ANNOTATION_HOLD]: '; disks' } } };
    await client.patch(MACHINES, { name: 'annotated' }, { type: 'merge', body });
    expect((await run(installed, 'machine', 'release', 'annotated')).exitCode).toBe(0);
    const { spec, metadata } = await read('annotated');
    expect([spec.hold, metadata.annotations?.[ANNOTATION_HOLD]]).toEqual([undefined, undefined]);
  });

  it('names the hold of the system that owns the instance, and does not end it', async () => {
    await declareMachine(client, 'followed', { hold: { reason: 'x', scope: 'All' } });
    const body = {
      metadata: { annotations: { [ANNOTATION_OWNER_HOLD]: 'ClusterPaused: Cluster c is paused' } },
    };
    await client.patch(MACHINES, { name: 'followed' }, { type: 'merge', body });
    const released = await run(installed, 'machine', 'release', 'followed');
    expect([released.exitCode, released.stderr]).toEqual([
      1,
      expect.stringContaining('still held by the owner of its instance: ClusterPaused: Cluster c is paused'),
    ]);
    const { spec, metadata } = await read('followed');
    expect([spec.hold, metadata.annotations?.[ANNOTATION_OWNER_HOLD]]).toEqual([
      undefined,
      'ClusterPaused: Cluster c is paused',
    ]);
  });

  it('names a hold that only others can end: in git, and on the Node', async () => {
    const spec = { infra: { provider: 'local', config: {} }, hold: { reason: 'from git', scope: 'All' } };
    const object = { apiVersion: API_VERSION, kind: 'Machine', metadata: { name: 'by-git' }, spec };
    await client.apply(MACHINES, object, { fieldManager: MANAGER_SYNC, force: true });
    const byGit = await run(installed, 'machine', 'release', 'by-git');
    expect([byGit.exitCode, byGit.stdout]).toEqual([1, expect.stringContaining('hold: null')]);
    expect((await read('by-git')).spec.hold?.reason).toBe('from git');

    await declareMachine(client, 'node-held');
    const metadata = { name: 'node-held', annotations: { [ANNOTATION_HOLD]: '; disks' } };
    await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata });
    const byNode = await run(installed, 'machine', 'release', 'node-held');
    expect([byNode.exitCode, byNode.stderr]).toEqual([
      1,
      expect.stringContaining('kubectl annotate node node-held'),
    ]);
  });

  it('needs no more than the role for operators', async () => {
    await declareMachine(client, 'operated');
    await bindRole('ann', ROLE_OPERATOR);
    const kubeconfig = await installed.server.kubeconfigFor({ user: 'ann', groups: [] });
    for (const args of [
      ['machine', 'list'],
      ['machine', 'show', 'operated'],
      ['machine', 'hold', 'operated', '--reason', 'x'],
      ['machine', 'release', 'operated'],
      ['component', 'list'],
    ]) {
      const { exitCode, stderr } = await run(installed, ...args, '--kubeconfig', kubeconfig);
      expect([args, exitCode, stderr]).toEqual([args, 0, '']);
    }
  });
});

describe('machine list and show, component list, why', () => {
  it('ROL-61 names one reason for each machine of a set, and what ends it', async () => {
    const digest = await declareVersion(client, 'shell', '1');
    const component = { name: 'shell', componentRef: 'shell-1' };
    const version: ComponentVersion = {
      spec: { component: 'shell', parameters: [{ name: 'level', default: 'info' }] },
      digest,
    };
    const resolved = resolveRevision([{ ...component, state: 'Present', parameters: {} }], () => version);
    const revision = 'revision' in resolved ? resolved.revision.name : '';
    await declareSet(client, 'base', { shell: 'shell-1' });
    const waiting = { reason: 'Paused', since: SINCE, message: 'spec.paused is true' };
    await reportSet(client, 'base', { updateRevision: revision, phase: 'Paused', waiting });
    const labels = { pool: 'base' };
    for (const name of ['base-1', 'base-2', 'base-3']) {
      const hold = name === 'base-2' ? { hold: { reason: 'disks', scope: 'All' } } : {};
      await declareMachine(client, name, hold, labels);
      await assign(
        installed,
        name,
        { ...component, digest, parameters: { level: 'info' } },
        { set: 'base', revision: name === 'base-1' ? revision : 'r-00000001' },
      );
      const ready = {
        type: 'AgentReady',
        status: 'True',
        reason: 'Heard',
        message: '',
        lastTransitionTime: SINCE,
      };
      await reportMachine(client, name, {
        conditions: [ready],
        components: [
          {
            name: 'shell',
            desiredRef: 'shell-1',
            currentRef: 'shell-1',
            digest,
            state: name === 'base-1' ? 'Failed' : 'Committed',
            error: { code: 'ExitCode', message: 'exited with 1' },
            running: true,
            ready: true,
          },
        ],
      });
    }
    const why = await run(installed, 'why', 'rollout', 'base', '-o', 'json');
    const { reasons } = JSON.parse(why.stdout) as {
      reasons: { reason: string; names: string[]; unblock: string }[];
    };
    expect(new Set(reasons.map(({ reason, names }) => `${reason} ${names.join(' ')}`))).toEqual(
      new Set(['Failed base-1', 'Held base-2', 'Paused base-3']),
    );
    const text = await run(installed, 'why', 'rollout', 'base');
    expect([text.exitCode, text.stdout]).toEqual([
      0,
      expect.stringContaining('kubenode machine release base-2'),
    ]);

    const shown = await run(installed, 'machine', 'show', 'base-1');
    expect(shown.stdout).toMatch(/shell +1 +1 +Failed/);
    expect(shown.stdout).toContain('exited with 1');
    const listed = await run(installed, 'machine', 'list', '--set', 'base', '-o', 'json');
    expect((JSON.parse(listed.stdout) as { total: number }).total).toBe(3);
    const components = await run(installed, 'component', 'list', 'shell');
    expect(components.stdout).toMatch(/shell +1 +3 +3 +1/);
    expect(components.stdout).toContain('not: base-1');
  });

  it('names what exists for a machine or component that does not', async () => {
    await declareMachine(client, 'known');
    expect((await run(installed, 'machine', 'show', 'unknown')).stderr).toContain(
      'Machine unknown does not exist',
    );
    expect((await run(installed, 'component', 'list', 'unknown')).exitCode).toBe(65);
    const filtered = await run(installed, 'machine', 'list', '--phase', 'Stalled');
    expect([filtered.exitCode, filtered.stdout]).toEqual([0, 'no machines\n']);
  });
});

describe('machine replace', () => {
  const OWNER = { apiVersion: API_VERSION, kind: 'MachineSet', name: 'web', uid: 'u-1', controller: true };

  async function declareOfSet(name: string): Promise<void> {
    await declareMachine(client, name);
    const body = { metadata: { ownerReferences: [OWNER] } };
    await client.patch(MACHINES, { name }, { type: 'merge', body });
  }

  it('asks the set of the machine, and changes nothing in a dry run', async () => {
    await declareOfSet('replaced');
    const dry = await run(installed, 'machine', 'replace', 'replaced', '--dry-run', '-o', 'json');
    expect([dry.exitCode, JSON.parse(dry.stdout)]).toMatchObject([0, { machineSet: 'web', state: 'DryRun' }]);
    expect((await read('replaced')).metadata.annotations?.[ANNOTATION_REPLACE_MACHINE]).toBeUndefined();
    const asked = await run(installed, 'machine', 'replace', 'replaced', '--no-wait', '--delete-first');
    expect([asked.exitCode, asked.stderr]).toEqual([0, '']);
    expect(asked.stdout).toContain('Requested');
    const { annotations } = (await read('replaced')).metadata;
    expect(annotations?.[ANNOTATION_REPLACE_MACHINE]).toBe('DeleteFirst');
  });

  it('ends with code 3 when the machine was not replaced in time', async () => {
    await declareOfSet('late');
    const late = await run(installed, 'machine', 'replace', 'late', '--timeout', '1s', '-o', 'json');
    expect(late.stderr).not.toContain('error');
    expect([late.exitCode, JSON.parse(late.stdout)]).toMatchObject([3, { state: 'Replacing' }]);
  });

  it('asks for nothing when the person may not read the set that it would follow', async () => {
    await declareOfSet('unread');
    const rules = [{ apiGroups: ['kubenode.dev'], resources: ['machines'], verbs: ['get', 'patch'] }];
    const metadata = { name: 'machines-only' };
    await client.create(ROLES, { apiVersion: `${RBAC.group}/v1`, kind: ROLES.kind, metadata, rules });
    await bindRole('bob', metadata.name);
    const kubeconfig = await installed.server.kubeconfigFor({ user: 'bob', groups: [] });
    const refused = await run(installed, 'machine', 'replace', 'unread', '--kubeconfig', kubeconfig);
    expect([refused.exitCode, refused.stdout]).toEqual([77, '']);
    expect(refused.stderr).toContain('machinesets');
    expect((await read('unread')).metadata.annotations?.[ANNOTATION_REPLACE_MACHINE]).toBeUndefined();
  });

  it('refuses a machine without a set, and names what to do', async () => {
    await declareMachine(client, 'alone');
    const refused = await run(installed, 'machine', 'replace', 'alone', '--no-wait');
    expect(refused.exitCode).toBe(65);
    expect(refused.stderr).toContain('Machine alone belongs to no MachineSet');
    expect(refused.stderr).toContain('kubectl delete machines.kubenode.dev alone');
  });
});
