/** Facts from a real API server, read with the rights of the accounts that read for `kubenode controllers`. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import {
  NAMESPACE_AGENTS,
  NAMESPACE_OF_NODE_EVENTS,
  PRINCIPAL_APPROVER,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_HOSTDOCTOR,
  PRINCIPAL_REMEDY,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { createView, type View } from '../../../src/kube/cache/view.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { formatMicroTime, LEASES } from '../../../src/kube/leader/record.ts';
import { NODE_EVENTS, NODES } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { systemRandom } from '../../../src/os/system-random.ts';
import { FACT_KINDS } from '../../../src/rules/catalog.ts';
import type { Reading } from '../../../src/rules/compiled-rule.ts';
import { createLiveFacts, type LiveFacts } from '../../../src/rules/live/live-facts.ts';
import type { ViewSelection } from '../../../src/rules/view-kind.ts';
import { createFactViews, type FactViewName } from '../../../src/rules/views.ts';
import { refOf } from '../../rules/live/facts-bed.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';

const clock = createSystemClock();
/** Of everything that is reported here, in whole seconds. */
const TIME = clock
  .now()
  .toISOString()
  .replace(/\.\d+Z$/, 'Z');
const stop = new AbortController();
const running: Promise<unknown>[] = [];
let installed: InstalledServer;
let facts: LiveFacts;

beforeAll(async () => {
  installed = await startInstalledServer();
  const defender = await installed.as(serviceAccountUser(PRINCIPAL_DEFENDER));
  const remedy = await installed.as(serviceAccountUser(PRINCIPAL_REMEDY));
  const approver = await installed.as(serviceAccountUser(PRINCIPAL_APPROVER));
  const components = await installed.as(serviceAccountUser(PRINCIPAL_COMPONENTSET));
  const maintenance = await installed.as(serviceAccountUser(PRINCIPAL_HOSTDOCTOR));
  const readers: Readonly<Partial<Record<FactViewName, Client>>> = {
    events: remedy,
    nodeLeases: remedy,
    agentLeases: approver,
    components,
    maintenance,
  };
  facts = createLiveFacts({
    clock,
    views: createFactViews(({ resource, selection }, name) =>
      run(readers[name] ?? defender, resource, selection),
    ),
  });
});
afterAll(async () => {
  stop.abort();
  await Promise.allSettled(running);
  await installed?.stop();
});

function run(client: Client, resource: Resource, selection: ViewSelection = {}): View {
  const view = createView({
    client,
    clock,
    random: systemRandom,
    log: memoryLog(),
    resource,
    ...selection,
  });
  running.push(view.reflector.run(stop.signal));
  return view;
}

function read(fact: string, params: Readonly<Record<string, string | number>> = {}): Reading {
  const maxAge = FACT_KINDS.get(fact)?.maxAge ?? 'OurWatch';
  return facts.read('n1', new Map([[fact, maxAge]]))(refOf(fact, params));
}

describe('facts from a real API server', () => {
  it('R4 R8 has conditions, Events, heartbeats and reports, and tells when they change', async () => {
    const admin = installed.server.client;
    const changed: string[] = [];
    facts.onChange(({ topics }) => changed.push(...topics));
    await declareMachine(admin);
    await declareNode(admin);
    await expect
      .poll(() => read('condition', { type: 'FrequentTaskHung' }))
      .toMatchObject({
        status: 'True',
        reason: 'TaskHung',
      });
    await expect
      .poll(() => read('disk', { filesystem: 'imagefs' }))
      .toEqual({
        usedPercent: 91,
        risingSeconds: 0,
      });
    expect(read('node')).toMatchObject({ kernelVersion: '6.8.0', unschedulable: false });
    await expect.poll(() => read('history', { action: 'Reboot', windowSeconds: 3600 })).toEqual({ count: 0 });

    await recordEvent(admin, 'Node');
    await recordEvent(admin, 'Pod');
    await expect.poll(() => changed).toContain('event TaskHung');
    expect(read('event', { reason: 'TaskHung', windowSeconds: 600 })['count']).toBe(1);
    changed.length = 0;
    await reportHung(admin, 'False');
    await expect.poll(() => changed).toEqual(['condition FrequentTaskHung']);
    expect(read('condition', { type: 'FrequentTaskHung' })['status']).toBe('False');
  });
});

async function declareMachine(admin: Client): Promise<void> {
  const head = { apiVersion: 'kubenode.dev/v1alpha1', kind: 'Machine', metadata: { name: 'n1' } };
  await admin.create(MACHINES, {
    ...head,
    spec: { infra: { provider: 'local' }, host: { type: 'sandbox' } },
  });
  const reported = { disk: [{ filesystem: 'imagefs', usedPercent: 91 }] };
  const body = { status: { conditions: [], facts: reported } };
  await admin.patch(MACHINES, { name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
  await admin.create(LEASES, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'n1', namespace: NAMESPACE_AGENTS },
    spec: { holderIdentity: 'n1', leaseDurationSeconds: 40, renewTime: formatMicroTime(clock.now()) },
  });
}

async function declareNode(admin: Client): Promise<void> {
  await admin.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } });
  await reportHung(admin, 'True');
}

async function reportHung(admin: Client, status: string): Promise<void> {
  const condition = { type: 'FrequentTaskHung', status, reason: 'TaskHung', message: 'hung' };
  const nodeInfo = { kernelVersion: '6.8.0', bootID: 'boot-1' };
  const conditions = [
    { ...condition, lastHeartbeatTime: TIME, lastTransitionTime: TIME },
    { type: 'Ready', status: 'True', lastHeartbeatTime: TIME, lastTransitionTime: TIME },
  ];
  const body = { status: { conditions, nodeInfo } };
  await admin.patch(NODES, { name: 'n1' }, { type: 'merge', body }, { subresource: 'status' });
}

/** As node-problem-detector writes it: core/v1, with the name of the Node as its UID. */
async function recordEvent(admin: Client, kind: string): Promise<void> {
  await admin.create(NODE_EVENTS, {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name: `hung-${kind.toLowerCase()}`, namespace: NAMESPACE_OF_NODE_EVENTS },
    involvedObject: { kind, name: 'n1', uid: 'n1', namespace: kind === 'Node' ? '' : 'default' },
    reason: 'TaskHung',
    message: 'task java:1 blocked for more than 120 seconds',
    type: 'Warning',
    source: { component: 'kernel-monitor', host: 'n1' },
    count: 1,
    firstTimestamp: TIME,
    lastTimestamp: TIME,
  });
}
