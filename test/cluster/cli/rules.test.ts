/** What rules answer on a node of a real API server, with the status that its agent and kubelet would write. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { rules } from '../../../rules/index.ts';
import { NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import {
  LABEL_BLOCK,
  MANAGER_SYNC,
  NAMESPACE_AGENTS,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { all, condition, fleet, workload } from '../../../src/constructs/facts.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createRemedierSpec } from '../../rules/sample-rule.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ensureAccount } from '../controllers/budgeted-pod.ts';
import { declareMachine, reportMachine, run } from './rollout-fixture.ts';

const COUNTING = 'counting';
/** A rule that matches on every node, and waits for what only its gate may read. */
const COUNTS = createRemedierSpec({
  '/mode': 'Observe',
  '/rule/conditions': condition('FrequentTaskHung').is('False'),
  '/rule/gate': all(
    fleet({ scope: 'cluster', faultClass: 'Kernel', within: '1h' }).affectedCount.below(1),
    workload().blockers.is(0),
  ),
});

let installed: InstalledServer;
let client: Client;

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
  const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC));
  for (const name of ['kernel-hang', 'component-down-kubelet']) {
    const object = { apiVersion: API_VERSION, kind: 'NodeRemedier', metadata: { name }, spec: rules[name] };
    await sync.apply(NODE_REMEDIERS, object, { fieldManager: MANAGER_SYNC, force: true });
  }
  const counting = {
    apiVersion: API_VERSION,
    kind: 'NodeRemedier',
    metadata: { name: COUNTING },
    spec: COUNTS,
  };
  await sync.apply(NODE_REMEDIERS, counting, { fieldManager: MANAGER_SYNC, force: true });
  for (const name of ['silent', 'heard']) await startMachine(name);
  await ensureAccount(client);
  const containers = [{ name: 'main', image: 'x' }];
  await client.create(PODS, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'blocking', namespace: 'default', labels: { [LABEL_BLOCK]: 'true' } },
    spec: { nodeName: 'silent', automountServiceAccountToken: false, containers },
  });
});
beforeEach(async () => {
  // As its agent does: a run of this file may take longer than the Lease lasts.
  const renewTime = clock.now().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'heard', leaseDurationSeconds: 40, renewTime };
  const metadata = { name: 'heard', namespace: NAMESPACE_AGENTS };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  await client.apply(LEASES, lease, { fieldManager: 'test', force: true });
});
afterAll(() => installed?.stop());

const clock = createSystemClock();

function now(): string {
  return clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');
}

/** A report replaces what the same account reported before. */
const STOPPED = { components: [{ name: 'kubelet', state: 'Committed', running: false, ready: false }] };

/** A healthy kernel, and a kubelet that does not run. */
async function startMachine(name: string): Promise<void> {
  await declareMachine(client, name, {}, { pool: 'general' });
  await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const wellSince = {
    type: 'FrequentTaskHung',
    status: 'False',
    reason: 'NoFrequentTaskHung',
    message: 'no task is hung',
    lastHeartbeatTime: now(),
    lastTransitionTime: now(),
  };
  const body = { status: { conditions: [wellSince] } };
  await client.patch(NODES, { name }, { type: 'merge', body }, { subresource: 'status' });
  await reportMachine(client, name, STOPPED);
}

interface FoundRule {
  readonly rule: string;
  readonly outcome: string;
  readonly because: string;
}

async function explain(machine: string): Promise<Readonly<Record<string, FoundRule>>> {
  const { exitCode, stdout } = await run(installed, 'rules', 'explain', machine, '-o', 'json');
  expect(exitCode).toBe(0);
  const found = JSON.parse(stdout) as { readonly rules: readonly FoundRule[] };
  return Object.fromEntries(found.rules.map((each) => [each.rule, each]));
}

describe('rules explain, of a gate that counts', () => {
  it('R21 R29 reads all machines, and the Pods of its own', async () => {
    const silent = ['rules', 'explain', 'silent', '--rule', COUNTING];
    const before = await run(installed, ...silent);
    expect(before.stdout).toMatch(/^gate +yes +fleet cluster Kernel 3600 affectedCount is 0$/m);
    expect(before.stdout).toMatch(/^ +no +workload blockers is 1, not 0$/m);

    const wait = { rule: 'kernel-hang', faultClass: 'Kernel', reason: 'GateClosed', since: now() };
    await reportMachine(client, 'heard', { ...STOPPED, remedyWaits: [wait] });
    const after = await run(installed, ...silent);
    expect(after.stdout).toMatch(/^gate +no +fleet cluster Kernel 3600 affectedCount is 1, not below 1$/m);
    expect((await explain('heard'))[COUNTING]?.because).toMatch(/affectedCount is 1/);
  });

  it('R29 is unknown to why node, which reads the objects of one node', async () => {
    const { stdout } = await run(installed, 'why', 'node', 'silent');
    expect(stdout).toMatch(/counting: Indeterminate .*only the objects of this node were read/m);
  });
});

describe('rules explain', () => {
  it('R1 R29 has one reason for each rule: what is false, and why a fact is unknown', async () => {
    const found = await explain('silent');
    expect(found['kernel-hang']).toMatchObject({
      outcome: 'NoMatch',
      because: expect.stringContaining('condition FrequentTaskHung status is "False", not "True"') as string,
    });
    expect(found['component-down-kubelet']).toMatchObject({
      outcome: 'Indeterminate',
      because: expect.stringContaining('nothing heard of the agent') as string,
    });
  });

  it('R29 is part of why node, without the rules that have nothing to do there', async () => {
    const { exitCode, stdout } = await run(installed, 'why', 'node', 'silent');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^rules +component-down-kubelet: Indeterminate: component kubelet .*unknown/m);
    expect(stdout).not.toContain('kernel-hang: NoMatch');
  });

  it('reads what an agent reports that is heard of, and lists every comparison of one rule', async () => {
    const found = (await explain('heard'))['component-down-kubelet'];
    expect(found?.outcome).toBe('NoMatch');
    expect(found?.because).toMatch(/component kubelet failedSeconds is [\d.]+, not at least 60/);

    const one = ['rules', 'explain', 'heard', '--rule', 'component-down-kubelet'];
    const { stdout } = await run(installed, ...one);
    expect(stdout).toMatch(/^conditions +yes +component kubelet ready is false$/m);
    expect(stdout).toMatch(/^gate +yes +component kubelet state is "Committed"$/m);
  });

  it('names a rule that the cluster does not have', async () => {
    const { exitCode, stderr } = await run(installed, 'rules', 'explain', 'silent', '--rule', 'missing');
    expect([exitCode, stderr.includes('NodeRemedier missing does not exist')]).toEqual([65, true]);
  });
});
