/** Three processes of `kubenode controllers` on a real API server, and the commands of a person beside them. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { CLUSTERS, DEFENDER_LEDGERS } from '../../../src/api/generated/resources.ts';
import type { LedgerApproval } from '../../../src/api/generated/types.ts';
import {
  FLEET_DEFAULT,
  NAMESPACE,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_DEFENDER,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { isKubeError } from '../../../src/kube/client/errors.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { textAt } from '../../../src/kube/objects/json.ts';
import { node } from '../../support/builders.ts';
import { applied } from '../../support/hosting/bed.ts';
import { testIo } from '../../support/test-io.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { RBAC } from '../api/permission-table.ts';
import { resources } from '../api/resources.ts';
import {
  ACCOUNTS,
  applyFleetDefault,
  createMachineWithNode,
  patchNodeStatus,
  readLedger,
  readPolicy,
} from './objects.ts';
import { type Ended, killed, kubenodeAs, startControllers } from './processes.ts';

const LEASE = { namespace: NAMESPACE, name: 'kubenode-controllers' };
const AT = '2030-01-01T00:00:00Z';
const UNTIL = '2040-01-01T00:00:00Z';

const FIRST_POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'one', per: 'Cluster', risks: ['Node'], max: 1 }],
  breakers: [{ name: 'unhealthy', type: 'UnhealthyRatio', per: 'Cluster', percent: 60, count: 3 }],
  zones: { haltPercent: 100, minNodes: 10 },
  approval: [{ name: 'data', risks: ['Data'], approvers: ['storage', 'system:masters'], timeoutSeconds: 60 }],
};

describe('kubenode controllers and kubenode defender', () => {
  let installed: InstalledServer;
  let kubeconfig: string;
  const processes: ChildProcess[] = [];

  beforeAll(async () => {
    installed = await startInstalledServer();
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    await applyFleetDefault(installed, FIRST_POLICY);
    for (const name of ['m-1', 'm-2', 'm-3', 'm-4']) {
      await createMachineWithNode(installed.server.client, name);
    }
    for (let index = 0; index < 3; index += 1) processes.push(startControllers(kubeconfig));
  });

  afterAll(async () => {
    for (const each of processes) await killed(each);
    await installed?.stop();
  });

  it('R13 grants up to the limit, denies with the reason, and keeps a grant when the leader is killed before the act', async () => {
    await expect.poll(async () => (await readPolicy(installed.server.client)).status?.phase).toBe('InForce');
    await expect.poll(async () => (await readLedger(installed.server.client)).status?.phase).toBe('Ready');
    const first = await run('ask', 'm-1', '--action', 'Reboot', '-o', 'json');
    expect([first.stderr, first.code]).toEqual(['', 0]);
    const grant = JSON.parse(first.stdout) as { id: string; fence: number };
    const denied = await run('ask', 'm-2', '--action', 'Reboot');
    expect(denied.code).toBe(3);
    expect(denied.stdout).toContain(
      'ConcurrencyCluster   fleet-default   cluster: 1 out of service or in work, and at most 1 allowed by limit one',
    );

    const why = await kubenode('why', 'node', 'm-2');
    expect([why.stderr, why.code]).toEqual(['', 0]);
    expect(why.stdout).toMatch(/^m-2 {3}Ready \S+ {3}facts \d+s old, ledger seq \d+\n/);
    expect(why.stdout).toContain('DENIED    Reboot  NodeTooYoung  fleet-default: Node m-2 is ');
    expect(why.stdout).toContain(
      'ConcurrencyCluster  fleet-default: cluster: 1 out of service or in work, and at most 1',
    );
    expect(why.stdout).toContain('m-1  Reboot Granted  Other ');
    expect(why.stdout).not.toContain('RevisionUnknown');
    const terminal = testIo({
      env: { KUBECONFIG: installed.server.kubeconfig, KUBENODE_PROGRESS: 'all' },
      interactive: true,
    });
    expect(await runCommandLine(terminal, ['why', 'node', 'm-2'])).toBe(0);
    expect(terminal.stderr).toContain('reading every Node and Machine of the cluster');
    const unknown = await kubenode('why', 'node', 'm-9');
    expect([unknown.code, unknown.stderr]).toEqual([
      65,
      expect.stringContaining('there is no Machine m-9, and no Node of that name') as string,
    ]);

    const { epoch } = (await readLedger(installed.server.client)).spec;
    const leader = await leaderOf();
    await killed(leader);
    const again = await run('ask', 'm-1', '--action', 'Reboot', '-o', 'json');
    expect(JSON.parse(again.stdout)).toMatchObject(grant);
    await expect
      .poll(async () => (await readLedger(installed.server.client)).spec.epoch)
      .toBeGreaterThan(epoch);
    expect((await readLedger(installed.server.client)).spec).toMatchObject({
      recovering: false,
      grants: { 'm-1': { id: grant.id } },
    });

    expect((await run('settle', 'm-1', '--outcome', 'Unused')).code).toBe(0);
    expect((await run('settle', 'm-1', '--outcome', 'Unused')).code).toBe(65);
    const second = await run('ask', 'm-2', '--action', 'Reboot');
    expect([second.stderr, second.code]).toEqual(['', 0]);
    expect((await run('settle', 'm-2', '--outcome', 'Unused')).code).toBe(0);
  });

  it('R25 stops everything with one command, shows who and why, and resumes', async () => {
    const stopped = await run('stop', '--reason', 'bad image');
    expect([stopped.stderr, stopped.code]).toEqual(['', 0]);
    expect((await run('stop', '--reason', 'again')).stderr).toContain('automation is stopped already');
    const denied = await run('ask', 'm-1', '--action', 'Reboot', '-o', 'json');
    expect(denied.code).toBe(3);
    expect(JSON.parse(denied.stdout)).toMatchObject({ reason: 'KillSwitch', policy: 'kill-switch' });
    await expect
      .poll(async () => (await readPolicy(installed.server.client, 'kill-switch')).status?.phase)
      .toBe('Stopped');
    const shown = await run('status');
    expect(shown.code).toBe(1);
    expect(shown.stdout).toMatch(/kill-switch +Audit +Stopped .*: bad image/);
    const resumed = await run('resume');
    expect([resumed.stderr, resumed.stdout]).toEqual(['', 'resumed: every machine is evaluated again\n']);
    expect((await run('resume')).stdout).toContain('was not stopped');
    const granted = await run('ask', 'm-1', '--action', 'Reboot', '--dry-run');
    expect([granted.stderr, granted.code]).toEqual(['', 0]);
  });

  it('R13 lets an approver answer an act on a hosted control plane, which the controllers do not know', async () => {
    const named = ['--action', 'UpdateControlPlane', '--risk', 'Data', '--holder', 'Cluster/ci'];
    const approve = async (): Promise<Ended> =>
      run('approve', 'cluster:ci', ...named, '--reason', 'moved away', '-o', 'json');
    expect((await approve()).stderr).toContain('machine cluster:ci is unknown');
    const { client } = installed.server;
    const { metadata } = await client.create(CLUSTERS, applied());
    onTestFinished(async () => {
      await client.delete(CLUSTERS, metadata, { uid: metadata.uid ?? '' });
    });
    const approved = await approve();
    expect([approved.stderr, approved.code]).toEqual(['', 0]);
    const { approvals } = (await readLedger(client)).spec;
    expect(approvals['cluster:ci']).toMatchObject({
      holderKind: 'Cluster',
      holder: 'ci',
      decision: 'Approved',
    });
    await hasRecorded('UpdateControlPlane Approved');
  });

  it('R13 grants an act once that an approver approved, and refuses an answer that another account writes', async () => {
    const wipe = ['m-1', '--action', 'WipeDisk'];
    const denied = await run('ask', ...wipe, '-o', 'json');
    expect(JSON.parse(denied.stdout)).toMatchObject({ reason: 'ApprovalPending', policy: FLEET_DEFAULT });
    const shown = await run('ask', ...wipe);
    const holder = /--holder (?<name>\S+)/.exec(shown.stderr)?.groups?.['name'] ?? 'missing';
    expect((await run('approve', 'm-1', '--reason', 'x')).stderr).toContain('no act on machine m-1 waits');

    // Olga may approve by RBAC and act as the Defender, but is in no group of the rule.
    const olga = await person('olga', 'kubenode-operator', 'acts-as-defender');
    const named = ['m-1', '--action', 'WipeDisk', '--holder', holder, '--reason', 'backup done'];
    const refused = await kubenodeAs(olga, 'defender', 'approve', ...named);
    expect([refused.code, refused.stderr]).toEqual([
      77,
      expect.stringContaining(
        'olga is not in a group that answers for rule data of policy fleet-default: storage, system:masters',
      ) as string,
    ]);
    // Neither does an administrator write the ledger by kubectl.
    const answer = {
      action: 'WipeDisk',
      holder,
      decision: 'Approved',
      by: 'olga',
      at: AT,
      until: UNTIL,
    } as const;
    const admins = await installed.as('ada', ['kubenode-admin']);
    for (const client of [
      await installed.as('olga', ['kubenode-operator']),
      admins,
      installed.server.client,
    ]) {
      expect(await answerBy(client, answer)).toBe('Forbidden');
    }

    const { approvals: others } = (await readLedger(installed.server.client)).spec;
    const approved = await run('approve', ...named, '-o', 'json');
    expect([approved.stderr, approved.code]).toEqual(['', 0]);
    expect(JSON.parse(approved.stdout)).toMatchObject({ decision: 'Approved', reason: 'backup done' });
    expect((await run('approve', ...named)).stderr).toContain('it was approved by');
    expect((await run('ask', ...wipe)).code).toBe(0);
    expect((await readLedger(installed.server.client)).spec.approvals).toEqual(others);
    expect((await run('settle', 'm-1', '--outcome', 'Unused')).code).toBe(0);
    expect((await run('ask', ...wipe)).code).toBe(3);
    expect((await run('refuse', ...named)).code).toBe(0);
    expect((await run('ask', ...wipe)).stdout).toContain('was refused by');

    await hasRecorded('WipeDisk Approved', 'WipeDisk Refused', 'WipeDisk Unused');
    expect((await auditLines()).filter(({ text }) => text === 'WipeDisk Unused')).toHaveLength(1);
    const table = await kubenode('audit', '--node', 'm-1', '--since', '7d');
    expect([table.stderr, table.code]).toEqual(['', 0]);
    expect(table.stdout).toMatch(/Machine m-1 +WipeDisk +Approved .* for \S+; backup done/);
  });

  it('R18 opens a breaker by the real Nodes, and denies because of it', async () => {
    // The Nodes of the test were created just now.
    await applyFleetDefault(installed, { ...FIRST_POLICY, blockers: { minNodeAgeSeconds: 0 } });
    for (const name of ['m-2', 'm-3', 'm-4']) {
      await patchNodeStatus(installed.server.client, name, node(name, 'False')['status']);
    }
    await expect
      .poll(async () => (await readPolicy(installed.server.client)).status?.phase)
      .toBe('BreakerOpen');
    const denied = await run('ask', 'm-2', '--action', 'Reboot', '-o', 'json');
    expect(JSON.parse(denied.stdout)).toMatchObject({
      reason: 'BreakerOpen',
      message: 'breaker unhealthy of cluster is open: 3 of 4 machines are not Ready',
    });
    for (const name of ['m-2', 'm-3', 'm-4']) {
      await patchNodeStatus(installed.server.client, name, node(name, 'True')['status']);
    }
    const close = ['close', 'unhealthy/cluster', '--reason', 'switch replaced'];
    const closed = await run(...close);
    expect([closed.stderr, closed.stdout]).toEqual([
      '',
      'breaker fleet-default/unhealthy/cluster closed. It opens again if its cause is still there\n',
    ]);
    expect((await run(...close)).code).toBe(65);
    expect((await readLedger(installed.server.client)).spec.closures).toMatchObject({
      'fleet-default/unhealthy/cluster': { reason: 'switch replaced' },
    });
    await expect.poll(async () => (await readPolicy(installed.server.client)).status?.phase).toBe('InForce');
    await applyFleetDefault(installed, FIRST_POLICY);
    expect((await readPolicy(installed.server.client)).spec.blockers.minNodeAgeSeconds).toBe(900);
  });

  /** Writes the ledger with this answer. The controllers write it, too: a Conflict is not an answer to who may. */
  async function answerBy(client: Client, answer: LedgerApproval): Promise<string> {
    for (;;) {
      const ledger = await readLedger(installed.server.client);
      const spec = { ...ledger.spec, seq: ledger.spec.seq + 1, approvals: { 'm-1': answer } };
      const code = await client.replace(DEFENDER_LEDGERS, { ...ledger, spec }).then(
        () => 'written',
        (error: unknown) => (isKubeError(error) ? error.code : String(error)),
      );
      if (code !== 'Conflict') return code;
    }
  }

  async function auditLines(): Promise<readonly { readonly text: string }[]> {
    const { stdout } = await kubenode('audit', '-o', 'json');
    const lines = stdout.split('\n').filter((line) => line !== '');
    return lines.map((line) => {
      const { action, decision, outcome } = JSON.parse(line) as Readonly<Record<string, string>>;
      return { text: `${action} ${decision ?? outcome}` };
    });
  }

  /** The leader appends what a person answered, also to one that was killed meanwhile. */
  async function hasRecorded(...lines: string[]): Promise<void> {
    await expect
      .poll(async () => (await auditLines()).map(({ text }) => text))
      .toEqual(expect.arrayContaining(lines));
  }

  async function run(...args: string[]): Promise<Ended> {
    return kubenode('defender', ...args);
  }

  async function kubenode(...args: string[]): Promise<Ended> {
    return kubenodeAs(installed.server.kubeconfig, ...args);
  }

  /** A kubeconfig of a person with these groups, each with the role of its name, and one to act as the Defender. */
  async function person(user: string, ...groups: string[]): Promise<string> {
    const { client } = installed.server;
    await client.create(resources.ClusterRole, {
      apiVersion: `${RBAC}/v1`,
      kind: 'ClusterRole',
      metadata: { name: 'acts-as-defender' },
      rules: [
        {
          apiGroups: [''],
          resources: ['serviceaccounts'],
          verbs: ['impersonate'],
          resourceNames: [PRINCIPAL_DEFENDER],
        },
      ],
    });
    for (const name of groups) {
      await client.create(resources.ClusterRoleBinding, {
        apiVersion: `${RBAC}/v1`,
        kind: 'ClusterRoleBinding',
        metadata: { name: `${user}-${name}` },
        roleRef: { apiGroup: RBAC, kind: 'ClusterRole', name },
        subjects: [{ apiGroup: RBAC, kind: 'Group', name }],
      });
    }
    return await installed.server.kubeconfigFor({ user, groups });
  }

  /** The process that holds the Lease: its identity contains its pid. */
  async function leaderOf(): Promise<ChildProcess> {
    const lease = await installed.server.client.get(LEASES, LEASE);
    const holder = textAt(lease, 'spec', 'holderIdentity') ?? '';
    const found = processes.find(({ pid }) => holder.includes(`-${pid}-`));
    if (!found) throw new Error(`no process holds the lease: ${holder}`);
    return found;
  }
});
