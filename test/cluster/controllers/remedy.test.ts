/** Rules that repair, in `kubenode controllers` on a real API server: with the installed rights, under all admission policies. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES, NODE_REMEDIERS, REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedier, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { MANAGER_SYNC, PRINCIPAL_SYNC, serviceAccountUser } from '../../../src/api/names.ts';
import { formatMicroTime, LEASES } from '../../../src/kube/leader/record.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { REMOVED } from '../../rules/sample-rule.ts';
import { condition, node } from '../../support/builders.ts';
import { remedier } from '../../support/remediers.ts';
import { startTraceCollector, type TraceCollector } from '../../support/trace-collector.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { run } from '../cli/rollout-fixture.ts';
import {
  ACCOUNTS,
  applyFleetDefault,
  createMachineWithNode,
  patchNodeStatus,
  readLedger,
} from '../defender/objects.ts';
import { killed, startLoggedControllers } from '../defender/processes.ts';
import { CONTROLLERS, POLICY } from './machine-cluster.ts';
import { missedRights } from './rights.ts';

const COMMIT = { 'kubenode.dev/commit': '4f2c9e1a77b0' };
const HUNG = {
  fact: 'condition',
  params: { type: 'FrequentTaskHung' },
  path: '$.status',
  operator: 'equal',
  value: 'True',
};
const reported = (status: string): object => ({ condition: { FrequentTaskHung: { status } } });
const HUNG_RULE = {
  '/target/maxMatchPercent': 100,
  '/rule/conditions': { all: [HUNG] },
  '/rule/gate': REMOVED,
  '/tests': [
    { name: 'hung', expect: 'Match', given: reported('True') },
    { name: 'well', expect: 'NoMatch', given: reported('False') },
    { name: 'silent', expect: 'Indeterminate', given: {} },
  ],
};

/** Nodes of a test are young. */
const YOUNG = { ...POLICY, blockers: { minNodeAgeSeconds: 0 } };

let installed: InstalledServer;
let running: ChildProcess | undefined;
let collector: TraceCollector;
let stopCollector: (() => void) | undefined;
let logged = '';
let port = 0;

beforeAll(async () => {
  installed = await startInstalledServer();
  await applyFleetDefault(installed, YOUNG);
  const kubeconfig = await installed.server.kubeconfigFor(CONTROLLERS);
  port = await findFreePort();
  collector = await startTraceCollector((stop) => {
    stopCollector = stop;
  });
  const traces = ['--otlp-endpoint', collector.endpoint];
  running = startLoggedControllers(kubeconfig, keepLog, '--port', String(port), ...traces);
});

afterAll(async () => {
  if (running) await killed(running);
  stopCollector?.();
  await installed?.stop();
});

function keepLog(text: string): void {
  logged += text;
}

/** As sync does. */
async function applyRule(name: string, changes: Readonly<Record<string, unknown>>): Promise<void> {
  const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
  const rule = remedier({ ...HUNG_RULE, ...changes }, { name, annotations: COMMIT });
  await sync.apply(NODE_REMEDIERS, rule, { fieldManager: MANAGER_SYNC });
}

async function report(machine: string, status: 'True' | 'False', type = 'FrequentTaskHung'): Promise<void> {
  const lastHeartbeatTime = createSystemClock().now().toISOString();
  const ready = { ...condition('Ready', 'True'), lastHeartbeatTime };
  const fault = { ...condition(type, status), lastHeartbeatTime };
  const nodeInfo = { bootID: 'boot-1' };
  await patchNodeStatus(installed.server.client, machine, { conditions: [ready, fault], nodeInfo });
}

async function ruleStatus(name: string): Promise<NodeRemedier['status']> {
  return (await installed.server.client.get<NodeRemedier>(NODE_REMEDIERS, { name })).status;
}

/** Of the machine of the first test by default: the others leave jobs, too, and may run before. */
async function jobs(machines: readonly string[] = ['m-1']): Promise<readonly RemedyOperationJob[]> {
  const { items } = await installed.server.client.list<RemedyOperationJob>(REMEDY_OPERATION_JOBS);
  return items.filter(({ spec }) => machines.includes(spec.machine.name));
}

async function expectGranted(): Promise<void> {
  const [job] = await jobs();
  if (!job) throw new Error('there is no job');
  const { cause, grant } = job.spec;
  const rule = await ruleStatus('b-high');
  expect(cause).toMatchObject({ remedier: 'b-high', commit: '4f2c9e1a77b0', ruleDigest: rule?.ruleDigest });
  expect((await readLedger(installed.server.client)).spec.grants['m-1']).toMatchObject({
    id: grant.id,
    fence: grant.fence,
    action: 'Reboot',
    holder: { kind: 'RemedyOperationJob', name: job.metadata.name },
  });
}

async function remedyWaits(): Promise<readonly string[]> {
  const { status } = await installed.server.client.get<Machine>(MACHINES, { name: 'm-1' });
  return (status?.remedyWaits ?? []).map(({ rule, reason }) => `${rule} ${reason}`).toSorted();
}

/**
 * Without the numbers of the buckets, and without the rule of the other test. The first reconcile of a machine counts no fault of it, so
 * that of the first rule may be counted or not.
 */
async function remedyMetrics(): Promise<readonly string[]> {
  const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
  return text
    .split('\n')
    .filter((line) => /^kubenode_remedy_\w+(_total|_count)\{/.test(line))
    .filter((line) => !/rule="(?:shadow|kubelet-down|waved)"/.test(line))
    .toSorted();
}

function tracedRules(): readonly unknown[] {
  return collector.spans().map(({ attributes }) => attributes['kubenode.rule']);
}

/** A job that is deleted while its agent, which does not exist, has not begun is cancelled. */
async function expectCounted(): Promise<void> {
  for (const { metadata } of await jobs()) {
    const { name, uid = '' } = metadata;
    await installed.server.client.delete(REMEDY_OPERATION_JOBS, { name }, { uid });
  }
  await expect
    .poll(remedyMetrics)
    .toEqual([
      'kubenode_remedy_decision_seconds_count{rule="b-high"} 1',
      'kubenode_remedy_detection_seconds_count{rule="b-high"} 1',
      ...['a-low', 'b-high', 'c-high', 'watching'].map(
        (rule) => `kubenode_remedy_faults_total{rule="${rule}",fault="Kernel"} 1`,
      ),
      'kubenode_remedy_first_step_seconds_count{rule="b-high"} 1',
      'kubenode_remedy_healing_seconds_count{rule="b-high"} 0',
      'kubenode_remedy_jobs_total{rule="b-high",rung="soft",fault="Kernel",outcome="Cancelled"} 1',
    ]);
  await expect.poll(tracedRules).toContain('b-high');
}

/** Of a kubelet whose last heartbeat in its Node is older than every maximum age. */
async function createSilentNode(name: string): Promise<void> {
  const lastHeartbeatTime = new Date(createSystemClock().now().getTime() - 1_800_000).toISOString();
  const ready = { ...condition('Ready', 'False'), lastHeartbeatTime };
  await createMachineWithNode(installed.server.client, name, { conditions: [ready] });
}

async function renewNodeLease(name: string): Promise<void> {
  const metadata = { name, namespace: 'kube-node-lease' };
  const renewTime = formatMicroTime(createSystemClock().now());
  const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
  await installed.server.client.create(LEASES, lease);
}

const NOT_READY = {
  '/mode': 'Observe',
  '/rule/conditions': { all: [{ ...HUNG, params: { type: 'Ready' }, value: 'False' }] },
  '/tests': [
    { name: 'down', expect: 'Match', given: { condition: { Ready: { status: 'False' } } } },
    { name: 'well', expect: 'NoMatch', given: { condition: { Ready: { status: 'True' } } } },
    { name: 'silent', expect: 'Indeterminate', given: {} },
  ],
};

/** Waits for a condition that never comes, and then for a person. */
const FAILING = {
  '/rule/conditions': { all: [{ ...HUNG, params: { type: 'FrequentSystemOOM' } }] },
  '/ladder': [
    {
      name: 'wait',
      plan: [{ step: 'WaitForCondition', with: { type: 'Never', status: 'True' }, timeoutSeconds: 1 }],
      verify: { conditions: { all: [{ ...HUNG, params: { type: 'FrequentSystemOOM' }, value: 'False' }] } },
    },
    { name: 'person', plan: [{ step: 'HandOff' }] },
  ],
  '/tests': [
    { name: 'oom', expect: 'Match', given: { condition: { FrequentSystemOOM: { status: 'True' } } } },
    { name: 'well', expect: 'NoMatch', given: { condition: { FrequentSystemOOM: { status: 'False' } } } },
    { name: 'silent', expect: 'Indeterminate', given: {} },
  ],
};

async function heldRule(): Promise<string | undefined> {
  const { status } = await readLedger(installed.server.client);
  return status?.conditions.find(({ type }) => type === 'RuleHeld')?.message;
}

describe('rules that repair', () => {
  it('R10 R11 R12 R29 records the answer of the Defender in Shadow, then creates one job with a grant when three rules match at once, and why the others wait', async () => {
    await createMachineWithNode(installed.server.client, 'm-1', node('m-1')['status']);
    await report('m-1', 'True');
    await applyRule('shadow', { '/mode': 'Shadow' });
    await expect
      .poll(() => ruleStatus('shadow'))
      .toMatchObject({ phase: 'Shadowing', counts: { matched: 1 }, shadow: { wouldAct: 1, wouldDeny: 0 } });
    expect(await jobs()).toEqual([]);
    expect((await readLedger(installed.server.client)).spec.grants).not.toHaveProperty('m-1');
    await expect.poll(remedyWaits).toEqual(['shadow Shadow']);

    await applyRule('watching', { '/mode': 'Observe' });
    await report('m-1', 'False');
    // Otherwise the first rule might still match the Node as it was.
    await expect.poll(() => ruleStatus('shadow')).toMatchObject({ counts: { matched: 0 } });
    for (const [name, priority] of [
      ['a-low', 400],
      ['b-high', 600],
      ['c-high', 600],
    ] as const) {
      await applyRule(name, { '/priority': priority });
      await expect.poll(async () => (await ruleStatus(name))?.phase).toBe('Enforcing');
    }
    await report('m-1', 'True');
    await expect.poll(async () => (await jobs()).length).toBe(1);
    await expectGranted();
    await expect.poll(() => ruleStatus('a-low')).toMatchObject({ counts: { matched: 1, inFlight: 0 } });
    await expect
      .poll(() => ruleStatus('b-high'))
      .toMatchObject({ counts: { matched: 1, inFlight: 1 }, matchedMachines: ['m-1'] });
    expect((await jobs()).length).toBe(1);
    await expect
      .poll(remedyWaits)
      .toEqual([
        'a-low JobActive',
        'b-high JobActive',
        'c-high JobActive',
        'shadow JobActive',
        'watching Observe',
      ]);
    const why = await run(installed, 'why', 'machine', 'm-1');
    expect(why.stdout).toMatch(
      /^waits +NodeRemedier a-low: JobActive: job m-1-b-high-\S+ is at work \(\d+s\)$/m,
    );
    expect(why.stdout).toMatch(/^ +NodeRemedier watching: Observe: spec\.mode is Observe \(\d+s\)$/m);

    const faults = async (): Promise<readonly unknown[]> => {
      const { status } = await installed.server.client.get<Machine>(MACHINES, { name: 'm-1' });
      return (status?.faults ?? []).map(({ type, status: is }) => [type, is]);
    };
    await expect.poll(faults).toEqual([['FrequentTaskHung', 'True']]);
    await report('m-1', 'False');
    await expect.poll(faults).toEqual([]);
    await expect.poll(remedyWaits).toEqual([]);
    await expectCounted();
    expect(missedRights(logged)).toEqual([]);
  });

  it('R4 takes the Lease of a Node for a sign of life of its kubelet, whose conditions are unknown before', async () => {
    await createSilentNode('m-2');
    await applyRule('kubelet-down', NOT_READY);
    await expect
      .poll(async () => (await ruleStatus('kubelet-down'))?.counts)
      .toMatchObject({ matched: 0, indeterminate: 1 });
    await renewNodeLease('m-2');
    await expect
      .poll(async () => (await ruleStatus('kubelet-down'))?.counts)
      .toMatchObject({ matched: 1, indeterminate: 0 });
    expect(missedRights(logged)).toEqual([]);
  });

  it('R10 repairs one machine by a new rule, holds it when that fails, and reports it as an incident of the cluster', async () => {
    const { client } = installed.server;
    await applyFleetDefault(installed, { ...YOUNG, ruleWaves: { waves: [1, '100%'], soakSeconds: 0 } });
    for (const name of ['m-5', 'm-6']) {
      await createMachineWithNode(client, name, node(name)['status']);
      await report(name, 'True', 'FrequentSystemOOM');
    }
    await applyRule('waved', FAILING);
    await expect.poll(heldRule).toMatch(/^rule waved begins no repair: wave 1 of 2: 1 of 1 repairs failed/);
    await expect
      .poll(async () => (await ruleStatus('waved'))?.conditions)
      .toContainEqual(expect.objectContaining({ type: 'Enforcing', status: 'False', reason: 'WaveFailed' }));
    const repaired = await jobs(['m-5', 'm-6']);
    expect(new Set(repaired.map(({ spec }) => spec.machine.name)).size).toBe(1);
    const status = await run(installed, 'defender', 'status');
    expect(status.stdout).toContain('rule waved begins no repair: wave 1 of 2');
    const { metadata } = await client.get(NODE_REMEDIERS, { name: 'waved' });
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    await sync.delete(NODE_REMEDIERS, { name: 'waved' }, { uid: metadata.uid ?? '' });
    await expect.poll(heldRule).toBe('no wave of a rule has failed');
    expect(missedRights(logged)).toEqual([]);
  });
});
