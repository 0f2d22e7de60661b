/** What the context promises to a controller, on a real API server: the guards are of no use if the server disagrees. */
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { createView } from '../../../../src/kube/cache/view.ts';
import { type ConnectOptions, connect } from '../../../../src/kube/client/connect.ts';
import { type Controller, read } from '../../../../src/kube/controller/controller.ts';
import type { ReconcileContext } from '../../../../src/kube/controller/reconcile-context.ts';
import { runControllers } from '../../../../src/kube/controller/run.ts';
import { createLeaseElection } from '../../../../src/kube/leader/election.ts';
import { LEASES } from '../../../../src/kube/leader/record.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../../src/kube/objects/object.ts';
import { createLimiter, type Limiter } from '../../../../src/kube/transport/limiter.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { installWidgets } from '../../../support/controller/install-widgets.ts';
import { WIDGETS, type Widget, widget } from '../../../support/controller/widgets.ts';
import { type MemoryLog, memoryLog } from '../../../support/memory-log.ts';

const OFTEN = { interval: 50 };
const LEASE = { namespace: 'default', name: 'sizer' };
const ACCOUNT = { namespace: 'kubenode-system', name: 'kubenode-machine' };
const clock = createSystemClock();

let server: ApiServer;
beforeAll(async () => {
  server = await startApiServer();
  await installWidgets(server.client);
});
afterAll(() => server?.stop());
beforeEach(async () => {
  for (const { metadata } of (await server.client.list(WIDGETS)).items) {
    await server.client.delete(WIDGETS, { name: metadata.name }, { uid: metadata.uid ?? '' });
  }
});

type Step = (context: ReconcileContext, live: Widget) => Promise<unknown>;

interface Run {
  readonly log: MemoryLog;
  readonly errors: unknown[];
  /** What the controller sent, by HTTP verb. */
  readonly calls: string[];
  readonly ended: Promise<void>;
  readonly reconciles: () => number;
}

interface RunWith {
  readonly change?: Partial<Controller>;
  readonly lease?: boolean;
  readonly limiter?: Limiter;
  readonly connection?: ConnectOptions;
}

/** The controller in this process, with views and writes over connections of its own. */
async function start(
  step: Step,
  { change = {}, lease = false, limiter, connection }: RunWith = {},
): Promise<Run> {
  const { kubeconfig } = server;
  const errors: unknown[] = [];
  const calls: string[] = [];
  let count = 0;
  const controller: Controller = {
    name: 'sizer',
    reads: [read(WIDGETS)],
    writes: ['Widget.spec.size', 'Widget.status.phase'],
    fieldManager: 'sizer',
    reconcile: async (key, context) => {
      count += 1;
      const live = context.view(WIDGETS).get(key);
      if (live) await step(context, live).catch((error: unknown) => errors.push(error));
      return {};
    },
    ...change,
  };
  const log = memoryLog();
  const shared = { clock, random: () => 0.5, log };
  const client = await connect({ kubeconfig });
  const view = createView({ ...shared, client, resource: WIDGETS, managers: ['sizer'] });
  const stop = new AbortController();
  const ended = runControllers(
    {
      ...shared,
      controllers: [controller],
      views: { Widget: view },
      reporter: { domain: 'test', instance: 'one' },
      connect: (principal) =>
        connect({
          kubeconfig,
          ...connection,
          ...(limiter ? { limiter } : {}),
          onCall: ({ verb, code }) => calls.push(`${verb} ${code}`),
          ...principal,
        }),
      ...(lease
        ? {
            lease: createLeaseElection({
              ...shared,
              client,
              identity: 'one',
              name: LEASE,
              leaseSeconds: 6,
              renewDeadlineSeconds: 4,
              retrySeconds: 0.5,
            }),
          }
        : {}),
    },
    stop.signal,
  );
  ended.catch(() => {}); // the test waits for it where it matters
  onTestFinished(async () => {
    stop.abort();
    await ended.catch(() => {});
    await client.close();
  });
  return { log, errors, calls, ended, reconciles: () => count };
}

async function put(name: string, spec: Widget['spec'] = {}): Promise<Widget> {
  return await server.client.apply<Widget>(WIDGETS, widget(name, spec), {
    fieldManager: 'person',
    force: true,
  });
}

async function get(name: string): Promise<Widget> {
  return await server.client.get<Widget>(WIDGETS, { name });
}

it('writes, sees its own write at once, and then sends nothing more for the same intent', async () => {
  await put('a');
  const sizes: unknown[] = [];
  const run = await start(async (context, { metadata: { name } }) => {
    await context.apply(WIDGETS, { metadata: { name }, spec: { size: 3 } });
    await context.applyStatus(WIDGETS, { metadata: { name }, status: { phase: 'Sized' } });
    const now = context.view(WIDGETS).get(name);
    sizes.push([now?.spec.size, now?.status?.phase]);
  });
  await expect.poll(async () => (await get('a')).status, OFTEN).toEqual({ phase: 'Sized' });
  expect(sizes[0]).toEqual([3, 'Sized']);
  await expect.poll(run.reconciles, OFTEN).toBeGreaterThan(1);
  const sent = [...run.calls];
  expect(sent).toEqual(['apply 200', 'apply 200']);
  const before = run.reconciles();
  await put('a', { owner: 'somebody' });
  await expect.poll(run.reconciles, OFTEN).toBeGreaterThan(before);
  expect(run.calls).toEqual(sent);
  expect((await get('a')).spec).toEqual({ size: 3, owner: 'somebody' });
});

it('sends nothing of a write that is not declared', async () => {
  await put('a');
  const run = await start((context, { metadata: { name } }) =>
    context.apply(WIDGETS, { metadata: { name }, spec: { owner: 'us' } }),
  );
  await expect.poll(() => run.errors.length, OFTEN).toBeGreaterThan(0);
  expect(String(run.errors[0])).toContain('controller sizer may not write Widget.spec.owner');
  expect(run.calls).toEqual([]);
});

it('adds and removes a finalizer, and observes the deletion at once', async () => {
  await put('a');
  const finalizer = 'test.kubenode.dev/ours';
  const change = { writes: [`Widget.metadata.finalizers[${finalizer}]`] };
  const run = await start(
    async (context, live) => {
      if (live.metadata.deletionTimestamp === undefined) {
        return await context.addFinalizer(WIDGETS, live, finalizer);
      }
      await context.removeFinalizer(WIDGETS, live, finalizer);
      expect(context.view(WIDGETS).get('a')).toBeUndefined();
      return undefined;
    },
    { change },
  );
  await expect.poll(async () => (await get('a')).metadata.finalizers, OFTEN).toEqual([finalizer]);
  await server.client.delete(WIDGETS, { name: 'a' }, { uid: (await get('a')).metadata.uid ?? '' });
  await expect.poll(async () => (await server.client.list(WIDGETS)).items, OFTEN).toEqual([]);
  expect(run.errors).toEqual([]);
});

it('sends no write after its lease is taken, however long the reconcile goes on', async () => {
  await put('a');
  const run = await start(
    async (context, { metadata: { name } }) => {
      await context.apply(WIDGETS, { metadata: { name }, spec: { size: 1 } });
      await expect.poll(() => context.signal.aborted, OFTEN).toBe(true);
      await context.apply(WIDGETS, { metadata: { name }, spec: { size: 2 } });
    },
    { lease: true },
  );
  await expect.poll(async () => (await get('a')).spec.size, OFTEN).toBe(1);
  const spec = { holderIdentity: 'somebody', leaseDurationSeconds: 15, leaseTransitions: 40 };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: LEASE, spec };
  await server.client.apply(LEASES, lease, { fieldManager: 'test', force: true });
  await expect(run.ended).rejects.toMatchObject({ name: 'LeaseLost', because: 'taken' });
  expect(run.errors[0]).toMatchObject({ code: 'Aborted' });
  expect([(await get('a')).spec.size, run.calls.filter((call) => call === 'apply 200')]).toEqual([
    1,
    ['apply 200'],
  ]);
});

it('acts as a ServiceAccount with the right to impersonate it and no right to impersonate groups', async () => {
  await put('a');
  const { client } = server;
  const user = { apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'controllers' };
  // What all ServiceAccounts of the namespace may: it holds only when the server adds their groups.
  const group = {
    apiGroup: 'rbac.authorization.k8s.io',
    kind: 'Group',
    name: `system:serviceaccounts:${ACCOUNT.namespace}`,
  };
  const widgets = { apiGroups: [WIDGETS.group], resources: ['widgets'], verbs: ['*'] };
  const impersonate = {
    apiGroups: [''],
    resources: ['serviceaccounts'],
    resourceNames: [ACCOUNT.name],
    verbs: ['impersonate'],
  };
  for (const [resource, object] of [
    rbac('ClusterRole', 'test-impersonator', { rules: [impersonate] }),
    rbac('ClusterRole', 'test-writer', { rules: [widgets] }),
    bind('test-impersonator', user),
    bind('test-writer', group),
  ]) {
    await client.apply(resource, object, { fieldManager: 'test' });
  }
  const kubeconfig = await server.kubeconfigFor({ user: 'controllers', groups: [] });
  const run = await start(
    (context, { metadata: { name } }) => context.apply(WIDGETS, { metadata: { name }, spec: { size: 5 } }),
    { change: { serviceAccount: ACCOUNT }, connection: { kubeconfig } },
  );
  await expect.poll(async () => [(await get('a')).spec.size, run.errors], OFTEN).toEqual([5, []]);

  const own = await connect({ kubeconfig, impersonate: { user: 'admin', groups: ['system:masters'] } });
  await expect(own.get(WIDGETS, { name: 'a' })).rejects.toMatchObject({ code: 'Forbidden' });
  await own.close();
});

it('answers what a disruption budget refuses, and does not slow down other calls', async () => {
  await put('a');
  const pod = await runningPod();
  const limiter = createLimiter({ clock });
  const full = limiter.inFlightLimit();
  const outcomes: unknown[] = [];
  await start(async (context) => outcomes.push(await context.evict(pod)), {
    change: { evicts: true },
    limiter,
  });
  await expect.poll(() => outcomes.length, OFTEN).toBeGreaterThan(0);
  expect(outcomes[0]).toMatchObject({ evicted: false });
  expect(String(textAt(outcomes[0], 'because'))).toContain('web');
  expect(limiter.inFlightLimit()).toBe(full);

  await allowDisruption();
  await put('b');
  await expect.poll(() => outcomes, OFTEN).toContainEqual({ evicted: true });
});

function rbac(kind: string, name: string, fields: object): [Resource, KubeObject] {
  const group = 'rbac.authorization.k8s.io';
  const resource = { group, version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced: false };
  return [resource, { apiVersion: `${group}/v1`, kind, metadata: { name }, ...fields }];
}

function bind(name: string, subject: object): [Resource, KubeObject] {
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name };
  return rbac('ClusterRoleBinding', name, { roleRef, subjects: [subject] });
}

const PODS: Resource = { group: '', version: 'v1', kind: 'Pod', plural: 'pods', namespaced: true };
const BUDGETS: Resource = {
  group: 'policy',
  version: 'v1',
  kind: 'PodDisruptionBudget',
  plural: 'poddisruptionbudgets',
  namespaced: true,
};
const ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'ServiceAccount',
  plural: 'serviceaccounts',
  namespaced: true,
};
const WEB = { name: 'web', namespace: 'default' };
const APPLY = { fieldManager: 'test', force: true };

/** A Pod that runs, as far as the API server knows, with a budget that no controller has looked at yet. */
async function runningPod(): Promise<KubeObject> {
  const { client } = server;
  const account = {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 'default', namespace: 'default' },
  };
  await client.apply(ACCOUNTS, account, APPLY);
  const labels = { app: 'web' };
  const spec = { containers: [{ name: 'web', image: 'web' }], automountServiceAccountToken: false };
  await client.apply(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: { ...WEB, labels }, spec }, APPLY);
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: WEB };
  await client.apply(
    BUDGETS,
    { ...budget, spec: { minAvailable: 1, selector: { matchLabels: labels } } },
    APPLY,
  );
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: WEB, status };
  return await client.apply(PODS, pod, { ...APPLY, subresource: 'status' });
}

async function allowDisruption(): Promise<void> {
  const budget = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: WEB };
  const status = {
    observedGeneration: 1,
    disruptionsAllowed: 1,
    currentHealthy: 2,
    desiredHealthy: 1,
    expectedPods: 2,
  };
  await server.client.apply(BUDGETS, { ...budget, status }, { ...APPLY, subresource: 'status' });
}
