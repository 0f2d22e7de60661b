/** What rules answer on a node of a real API server, with the status that its agent and kubelet would write. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rules } from '../../../rules/index.ts';
import { NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import {
  MANAGER_SYNC,
  NAMESPACE_AGENTS,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { declareMachine, reportMachine, run } from './rollout-fixture.ts';

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
  for (const name of ['silent', 'heard']) await startMachine(name);
  const renewTime = clock.now().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: 'heard', leaseDurationSeconds: 40, renewTime };
  const metadata = { name: 'heard', namespace: NAMESPACE_AGENTS };
  await client.create(LEASES, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec });
});
afterAll(() => installed?.stop());

const clock = createSystemClock();

function now(): string {
  return clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');
}

/** A healthy kernel, and a kubelet that does not run. */
async function startMachine(name: string): Promise<void> {
  await declareMachine(client, name, {}, { pool: 'general' });
  await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
  const condition = {
    type: 'FrequentTaskHung',
    status: 'False',
    reason: 'NoFrequentTaskHung',
    message: 'no task is hung',
    lastHeartbeatTime: now(),
    lastTransitionTime: now(),
  };
  const body = { status: { conditions: [condition] } };
  await client.patch(NODES, { name }, { type: 'merge', body }, { subresource: 'status' });
  await reportMachine(client, name, {
    components: [{ name: 'kubelet', state: 'Committed', running: false, ready: false }],
  });
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
