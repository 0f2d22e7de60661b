/** Drains on a real API server: its answers to evictions, its budgets, its preconditions, its cordons. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ANNOTATION_CORDONED_BY } from '../../../../src/api/names.ts';
import type { Client } from '../../../../src/kube/client/client.ts';
import { connect } from '../../../../src/kube/client/connect.ts';
import { createWriter, type Writer } from '../../../../src/kube/controller/writes/writer.ts';
import { BUDGETS } from '../../../../src/kube/drain/budgets.ts';
import { planCordon, planUncordon } from '../../../../src/kube/drain/cordon.ts';
import { type DrainPorts, type DrainStep, stepDrain } from '../../../../src/kube/drain/step.ts';
import { NODES, PODS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { createLimiter } from '../../../../src/kube/transport/limiter.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const NODE = { name: 'n1' };
const LABELS = { app: 'cart' };
const MARK = { annotation: ANNOTATION_CORDONED_BY, owner: 'grant-1' };
const ME = { fieldManager: 'test', force: true };
const { signal } = new AbortController();
const call = { signal, beforeSend: () => {} };
const ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};

let server: ApiServer;
let client: Client;
let writer: Writer;
/** Of evictions, the only objects that are created here. */
let codes: string[];
/** A pause of the limiter would never end: its clock stands still. */
const limiter = createLimiter({ clock: virtualClock() });
const fullLimit = limiter.inFlightLimit();

beforeAll(async () => {
  server = await startApiServer();
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'default' },
  };
  await server.client.apply(ACCOUNTS, account, ME);
  await server.client.apply(NODES, { apiVersion: 'v1', kind: 'Node', metadata: NODE }, ME);
  await server.keep();
  client = await connect({
    kubeconfig: server.kubeconfig,
    limiter,
    onCall: ({ verb, code }) => verb === 'create' && codes.push(code),
  });
  const controller = {
    name: 'drain',
    fieldManager: 'test',
    evicts: true,
    writes: [`Node.metadata.annotations[${ANNOTATION_CORDONED_BY}]`, 'Node.spec.unschedulable'],
  };
  writer = createWriter({ controller, client, views: { find: () => undefined } });
});
beforeEach(async () => {
  codes = [];
  await server.wipe();
});
afterAll(async () => {
  await client?.close();
  await server?.stop();
});

const metadataOf = (name: string): { readonly name: string; readonly namespace: string } => ({
  name,
  namespace: 'default',
});

/** Runs, as far as the server knows. Without a grace period it is removed as soon as it is evicted. */
async function runPod(name: string, graceSeconds = 0): Promise<KubeObject> {
  const spec = {
    nodeName: NODE.name,
    terminationGracePeriodSeconds: graceSeconds,
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'x' }],
  };
  const pod = { apiVersion: 'v1', kind: 'Pod' };
  const metadata = metadataOf(name);
  await server.client.create(PODS, { ...pod, metadata: { ...metadata, labels: LABELS }, spec });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  return server.client.apply(PODS, { ...pod, metadata, status }, { ...ME, subresource: 'status' });
}

/** As the disruption controller would write it. */
async function putBudget(name: string, disruptionsAllowed?: number): Promise<void> {
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: metadataOf(name) };
  const spec = { minAvailable: 1, selector: { matchLabels: LABELS } };
  const { metadata } = await server.client.apply(BUDGETS, { ...budget, spec }, ME);
  if (disruptionsAllowed === undefined) return;
  const counts = { currentHealthy: 1 + disruptionsAllowed, desiredHealthy: 1, expectedPods: 2 };
  const status = { observedGeneration: metadata.generation, disruptionsAllowed, ...counts };
  await server.client.apply(BUDGETS, { ...budget, status }, { ...ME, subresource: 'status' });
}

const evictNow: DrainPorts['evict'] = (pod) => writer.evict(pod, call);
const allPages: Client['pages'] = (resource, options) => client.pages(resource, options);

interface StepChange {
  readonly last?: DrainStep;
  readonly evict?: DrainPorts['evict'];
  readonly pages?: Client['pages'];
}

async function step({ last, evict = evictNow, pages = allPages }: StepChange = {}): Promise<DrainStep> {
  const clock = createSystemClock();
  // Later than any time to ask again that the step before has set.
  const later = { now: () => new Date(clock.now().getTime() + (last ? 3600_000 : 0)) };
  const node: KubeObject = { apiVersion: 'v1', kind: 'Node', metadata: NODE, spec: { unschedulable: true } };
  const ports = {
    client: { pages },
    evict,
    clock: later,
    signal,
  };
  const options = { deadNode: 'Wait' } as const;
  const before = last ? { answers: last.answers, previous: last.progress } : { answers: new Map() };
  return stepDrain(ports, { node, kubeletAnswers: true, options, ...before });
}

const smallPages: Client['pages'] = (resource, options) => client.pages(resource, { ...options, limit: 120 });

function reasons({ actions }: DrainStep): readonly string[] {
  return actions.map((action) => (action.type === 'Evict' ? 'Evict' : action.reason));
}

describe('a drain', () => {
  it('evicts, waits for a pod that terminates, and never evicts it twice', async () => {
    await runPod('a', 30);
    await runPod('b');
    const first = await step();
    expect([first.state, first.progress.pending]).toEqual(['Draining', 2]);
    const second = await step();
    expect([second.state, reasons(second), codes]).toEqual(['Draining', ['Terminating'], ['201', '201']]);
    const { metadata } = await client.get(PODS, metadataOf('a'));
    await client.delete(PODS, metadataOf('a'), { uid: metadata.uid ?? '', gracePeriodSeconds: 0 });
    const last = await step({ last: second });
    expect([last.state, last.progress]).toMatchObject(['Drained', { evicted: 1, pending: 0 }]);
  });

  it('R35 asks a budget once in a step, delays no other call, and goes on when the budget allows it', async () => {
    await runPod('a');
    await putBudget('cart', 0);
    const first = await step();
    expect(codes).toEqual(['429']);
    expect(first.progress).toMatchObject({ pending: 1, blockedBy: ['default/cart'] });
    expect(first.progress.message).toContain('The disruption budget cart needs 1 healthy pods and has 1');
    expect(limiter.inFlightLimit()).toBe(fullLimit);
    await client.get(NODES, NODE);

    await putBudget('cart', 1);
    expect((await step({ last: first })).progress.blockedBy).toEqual([]);
    expect(codes).toEqual(['429', '201']);
    expect((await step()).state).toBe('Drained');
  });

  it('delays no other call for a budget that no controller has processed, which sends Retry-After', async () => {
    await runPod('a');
    await putBudget('cart');
    const { progress, actions } = await step();
    expect(progress.blockedBy).toEqual(['default/cart']);
    expect(actions).toMatchObject([{ reason: 'Budget' }]);
    expect(limiter.inFlightLimit()).toBe(fullLimit);
    await client.get(NODES, NODE);
  });

  it('names both budgets that cover a pod, and evicts the other pods', async () => {
    await runPod('a');
    await putBudget('one', 1);
    await putBudget('two', 1);
    const other = {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { ...metadataOf('b'), labels: { app: 'other' } },
    };
    await runPod('b');
    await server.client.apply(PODS, other, ME);
    const { progress } = await step();
    expect(codes.toSorted()).toEqual(['201', '500']);
    expect(progress.blockedBy).toEqual(['default/one', 'default/two']);
    expect(progress.message).toContain('more than one PodDisruptionBudget');
  });

  it('never evicts a pod that took the name of a listed one, until it is listed itself', async () => {
    const old = await runPod('a');
    const first = await step({
      evict: async (pod) => {
        await client.delete(PODS, metadataOf('a'), { uid: old.metadata.uid ?? '', gracePeriodSeconds: 0 });
        await runPod('a', 30);
        return writer.evict(pod, call);
      },
    });
    expect([reasons(first), codes]).toEqual([['Changed'], ['409']]);
    const live = await client.get(PODS, metadataOf('a'));
    expect(live.metadata).not.toHaveProperty('deletionTimestamp');
    await step({ last: first });
    expect((await client.get(PODS, metadataOf('a'))).metadata).toMatchObject({
      uid: live.metadata.uid,
      deletionTimestamp: expect.any(String) as string,
    });
  });

  it('counts a pod that was deleted meanwhile as evicted once a list shows it', async () => {
    const { metadata } = await runPod('a');
    const first = await step({
      evict: async (pod) => {
        await client.delete(PODS, metadataOf('a'), { uid: metadata.uid ?? '', gracePeriodSeconds: 0 });
        return writer.evict(pod, call);
      },
    });
    expect([first.state, codes]).toEqual(['Draining', ['404']]);
    const last = await step({ last: first });
    expect([last.state, last.progress.evicted]).toEqual(['Drained', 1]);
  });

  it('drains 500 pods in pages, each once', async () => {
    const names = Array.from({ length: 500 }, (_, n) => `p-${n}`).values();
    await Promise.all(
      Array.from({ length: 10 }, async () => {
        for (const name of names) await runPod(name);
      }),
    );
    const first = await step({ pages: smallPages });
    expect(first.progress.total).toBe(500);
    const last = await step({ pages: smallPages, last: first });
    expect([last.state, last.progress.evicted, codes.length]).toEqual(['Drained', 500, 500]);
  });
});

const read = (): Promise<KubeObject> => client.get(NODES, NODE);
/** As kubectl cordon and uncordon do. */
const byPerson = (unschedulable: boolean): Promise<KubeObject> =>
  server.client.patch(NODES, NODE, { type: 'merge', body: { spec: { unschedulable } } });

async function cordon(): Promise<void> {
  const node = await read();
  const { operations } = planCordon(node, MARK);
  if (operations.length > 0) await writer.patch(NODES, node, operations, call);
}

async function uncordon(): Promise<void> {
  const node = await read();
  const { operations } = planUncordon(node, MARK);
  if (operations.length > 0) await writer.patch(NODES, node, operations, call);
}

describe('a cordon', () => {
  it('of ours is set once, and removed with its mark', async () => {
    await cordon();
    const cordoned = await read();
    expect(cordoned).toMatchObject({
      metadata: { annotations: { [ANNOTATION_CORDONED_BY]: 'grant-1' } },
      spec: { unschedulable: true },
    });
    await cordon();
    expect((await read()).metadata.resourceVersion).toBe(cordoned.metadata.resourceVersion);
    await uncordon();
    const { metadata, spec } = await read();
    expect([metadata.annotations ?? {}, spec]).not.toHaveProperty('unschedulable');
    expect(metadata.annotations ?? {}).not.toHaveProperty([ANNOTATION_CORDONED_BY]);
  });

  it('of a person is never removed', async () => {
    await byPerson(true);
    await cordon();
    await uncordon();
    expect(await read()).toMatchObject({ spec: { unschedulable: true } });
    expect((await read()).metadata.annotations ?? {}).not.toHaveProperty([ANNOTATION_CORDONED_BY]);
  });

  it('that a person removed is not set again for the same grant', async () => {
    await cordon();
    await byPerson(false);
    await cordon();
    expect(planCordon(await read(), MARK).state).toBe('UncordonedByPerson');
    expect((await read())['spec']).not.toHaveProperty('unschedulable');
  });

  it('is not removed when a person has cordoned the node since it was read', async () => {
    await cordon();
    const stale = await read();
    await uncordon();
    await byPerson(true);
    const { operations } = planUncordon(stale, MARK);
    await expect(writer.patch(NODES, stale, operations, call)).rejects.toMatchObject({ code: 'Conflict' });
    expect(await read()).toMatchObject({ spec: { unschedulable: true } });
  });

  it('of a person is not marked as ours when it was made since the node was read', async () => {
    const stale = await read();
    await byPerson(true);
    const { operations } = planCordon(stale, MARK);
    await expect(writer.patch(NODES, stale, operations, call)).rejects.toMatchObject({ code: 'Conflict' });
    expect((await read()).metadata.annotations ?? {}).not.toHaveProperty([ANNOTATION_CORDONED_BY]);
  });
});
