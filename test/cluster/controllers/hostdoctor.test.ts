/** Announced maintenance on a real API server, by `kubenode controllers` with the installed rights, of which each is taken away once. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MACHINES, MAINTENANCE_EVENTS } from '../../../src/api/generated/resources.ts';
import type { Machine, MaintenanceEvent } from '../../../src/api/generated/types.ts';
import { MANAGER_HOSTDOCTOR, PRINCIPAL_HOSTDOCTOR, serviceAccountUser } from '../../../src/api/names.ts';
import { hostdoctorRights } from '../../../src/api/roles/controllers.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { createPollMemory, pollProvider } from '../../../src/controllers/hostdoctor/poll/execute.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import type { ReconcileContext } from '../../../src/kube/controller/reconcile-context.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { callback } from '../../support/fault-proxy/faults.ts';
import { openWatches } from '../../support/fault-proxy/watch-faults.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { ACCOUNTS, applyFleetDefault } from '../defender/objects.ts';
import { endLease, killed, kubenodeAs, startLoggedControllers } from '../defender/processes.ts';
import { CONTROLLERS, POLICY } from './machine-cluster.ts';
import { missedRights, type Right, rightInForce, rightsIn, textOf, withoutRight } from './rights.ts';

const PLURAL = MAINTENANCE_EVENTS.plural;
const ALL_RIGHTS = rightsIn(hostdoctorRights);
/** No provider of the process of this test announces anything: a poll of its own uses these. */
const POLL_RIGHTS = ALL_RIGHTS.filter(
  ({ verb, resource }) => resource === PLURAL && ['create', 'patch'].includes(verb),
);
/** Those by which reports are recorded: hardware-events.test.ts uses them. */
const REPORT_RIGHTS = ['update maintenanceevents', 'get machines', 'get secrets'];
const RIGHTS = ALL_RIGHTS.filter(
  (right) => !POLL_RIGHTS.includes(right) && !REPORT_RIGHTS.includes(textOf(right)),
);
const clock = createSystemClock();

let installed: InstalledServer;
let admin: Client;
let proxy: FaultProxy;
let controllers: ChildProcess;
let logged = '';
let made = 0;
const watches = openWatches();
const missed = (): readonly string[] => missedRights(logged);

beforeAll(async () => {
  installed = await startInstalledServer();
  admin = installed.server.client;
  await applyFleetDefault(installed, POLICY);
  proxy = await faultProxy(installed.server);
  proxy.on({ verb: 'watch', resource: PLURAL, fault: watches.fault });
  start();
});

afterAll(async () => {
  await killed(controllers);
  await proxy?.close();
  await installed?.stop();
});

function start(): void {
  controllers = startLoggedControllers(proxy.kubeconfigFor(CONTROLLERS), (text) => {
    logged += text;
  });
}

async function newMachine(): Promise<string> {
  made += 1;
  const name = `m-${made}`;
  await admin.create(MACHINES, machineObject(name));
  return name;
}

function machineObject(name: string): KubeObject {
  const spec = { infra: { provider: 'local' }, host: { type: 'sandbox' }, components: [] };
  return { apiVersion: API_VERSION, kind: 'Machine', metadata: { name }, spec };
}

/** As `kubectl apply` by a person. */
async function report(machine: string, changes: object = {}): Promise<string> {
  const name = `local-${machine}`;
  const notBefore = '2099-01-01T01:00:00Z';
  const spec = { provider: 'local', eventID: name, machine, type: 'Reboot', state: 'Scheduled', notBefore };
  const object = { apiVersion: API_VERSION, kind: 'MaintenanceEvent', metadata: { name } };
  const options = { fieldManager: 'a-person', force: true };
  await admin.apply(MAINTENANCE_EVENTS, { ...object, spec: { ...spec, ...changes } }, options);
  return name;
}

async function read(name: string): Promise<MaintenanceEvent> {
  return await admin.get<MaintenanceEvent>(MAINTENANCE_EVENTS, { name });
}

/** Its phase and what it waits for. */
async function shown(name: string): Promise<string> {
  const { status } = await read(name);
  return [status?.phase, status?.waiting?.reason].filter(Boolean).join(' ');
}

async function isShown(name: string, expected: string): Promise<void> {
  await expect.poll(() => shown(name)).toBe(expected);
}

/** Returns what gives it back. */
async function takeAway(right: Right): Promise<() => Promise<void>> {
  const account = await installed.as(serviceAccountUser(PRINCIPAL_HOSTDOCTOR), ACCOUNTS);
  const giveBack = await withoutRight(admin, PRINCIPAL_HOSTDOCTOR, right);
  onTestFinished(giveBack);
  await rightInForce(account, right, false);
  return async () => {
    await giveBack();
    await rightInForce(account, right, true);
  };
}

/** Its watch ends as that of a client that fell too far behind, so that it lists again. */
async function listAgain(beforeList: () => unknown = () => undefined): Promise<void> {
  const listed = Promise.withResolvers<void>();
  const before = callback(async () => {
    await beforeList();
    listed.resolve();
  });
  proxy.on({ verb: 'list', resource: PLURAL, nth: 1, fault: before });
  watches.end(410);
  await listed.promise;
}

/** An event that is missing in the next list is read by its name. */
async function loseOne(): Promise<void> {
  const name = await report(await newMachine());
  await isShown(name, 'Pending TooEarly');
  const { uid = '' } = (await read(name)).metadata;
  await listAgain(() => admin.delete(MAINTENANCE_EVENTS, { name }, { uid }));
}

/** An event that ended weeks ago. */
async function expire(): Promise<void> {
  const name = await report(await newMachine(), { state: 'Done' });
  await isShown(name, 'Done');
  const { status } = await read(name);
  const conditions = status?.conditions.map((each) => ({
    ...each,
    lastTransitionTime: '2020-01-01T00:00:00Z',
  }));
  const body = { status: { conditions } };
  await admin.patch(MAINTENANCE_EVENTS, { name }, { type: 'merge', body }, { subresource: 'status' });
}

/** Reports what a provider announces for a machine, with the rights of the account. */
async function poll(): Promise<void> {
  const account = await installed.as(serviceAccountUser(PRINCIPAL_HOSTDOCTOR), ACCOUNTS);
  const name = await newMachine();
  const announcing = announcingProvider(name);
  const machine = await admin.get<Machine>(MACHINES, { name });
  const known = { ...machine, status: { ...machine.status, infra: { providerID: `local:///${name}` } } };
  const { apiVersion, kind } = { apiVersion: API_VERSION, kind: MAINTENANCE_EVENTS.kind };
  const context = {
    view: ({ plural }: Resource) => ({ list: () => (plural === MACHINES.plural ? [known] : []) }),
    apply: async (resource: Resource, intent: object) =>
      await account.apply(resource, { apiVersion, kind, ...intent } as KubeObject, {
        fieldManager: MANAGER_HOSTDOCTOR,
        force: true,
      }),
    clock,
    log: memoryLog(),
    signal: new AbortController().signal,
  } as unknown as ReconcileContext;
  await pollProvider(announcing, { memory: createPollMemory(), now: () => clock.now(), context });
  await isShown(`local-event-of-${name}`, 'Pending TooEarly');
}

function announcingProvider(machine: string): Parameters<typeof pollProvider>[0] {
  const notBefore = new Date('2099-01-01T01:00:00Z');
  const notice = {
    eventId: `event-of-${machine}`,
    instanceId: `local:///${machine}`,
    type: 'Reboot',
    notBefore,
  };
  return { name: 'local', events: async () => [notice] };
}

const USES: Readonly<Record<string, () => unknown>> = {
  get: loseOne,
  list: listAgain,
  watch: () => watches.end(),
  patch: async () => await report(await newMachine()),
  delete: expire,
};

describe('announced maintenance', () => {
  it('R39 is one object with one status, however often it is reported', async () => {
    const machine = await newMachine();
    const name = await report(machine);
    await isShown(name, 'Pending TooEarly');
    const before = await read(name);
    // oxlint-disable-next-line no-await-in-loop -- one report after the other
    for (let times = 0; times < 99; times += 1) await report(machine);
    expect((await read(name)).metadata.resourceVersion).toBe(before.metadata.resourceVersion);
    expect(before.status).toMatchObject({
      actAt: '2099-01-01T00:35:00Z',
      observedState: 'Scheduled',
      reports: 1,
      machine: { uid: expect.any(String) as string },
    });
    const writers = before.metadata.managedFields?.filter(({ subresource }) => subresource === 'status');
    expect(writers?.map(({ manager }) => manager)).toEqual([MANAGER_HOSTDOCTOR]);
  });

  it('is prepared when its time has come, tells that the rule is missing, and is settled when it is cancelled', async () => {
    const machine = await newMachine();
    const name = await report(machine, { notBefore: '2020-01-01T00:00:00Z' });
    await isShown(name, 'Preparing NoRule');
    await report(machine, { state: 'Cancelled' });
    await isShown(name, 'Done');
    expect((await read(name)).status?.reports).toBe(2);
  });

  it('R39 leaves nothing of a hint when its time is over', async () => {
    const name = await report(await newMachine(), { hint: true, ttlSeconds: 60 });
    await isShown(name, 'Pending NotScheduled');
    await isShown(name, 'Done');
    const settled = (await read(name)).status?.conditions.find(({ type }) => type === 'Settled');
    expect([settled?.status, settled?.reason]).toEqual(['True', 'HintExpired']);
  });

  it('acts on no impossible change of the state, also of one that was made while no controller ran', async () => {
    const machine = await newMachine();
    const name = await report(machine);
    await isShown(name, 'Pending TooEarly');
    await killed(controllers);
    await endLease(admin);
    await report(machine, { state: 'Inquiring' });
    start();
    await isShown(name, 'Pending Inconsistent');
    const { status } = await read(name);
    expect([status?.observedState, status?.actAt]).toEqual(['Scheduled', undefined]);
    await report(machine, { state: 'Executing' });
    await isShown(name, 'Pending TooEarly');
  });

  it('is of no machine that is missing', async () => {
    const name = await report('never-there');
    await isShown(name, 'Unmatched MachineNotFound');
    // Times of creation are whole seconds. In a later one, a machine of this name is another one than the one that was meant.
    const { creationTimestamp = '' } = (await read(name)).metadata;
    await expect
      .poll(() => clock.now().getTime())
      .toBeGreaterThanOrEqual(Date.parse(creationTimestamp) + 1000);
    await admin.create(MACHINES, machineObject('never-there'));
    await isShown(name, 'Unmatched MachineReplaced');
    expect((await read(name)).status?.actAt).toBeUndefined();
  });

  it('is listed and shown by the command line', async () => {
    const machine = await newMachine();
    const name = await report(machine);
    await isShown(name, 'Pending TooEarly');
    const { kubeconfig } = installed.server;
    const listed = await kubenodeAs(kubeconfig, 'maintenance', 'list', '--machine', machine);
    expect([listed.code, listed.stderr]).toEqual([0, '']);
    expect(listed.stdout).toMatch(new RegExp(`${name} +${machine} +Reboot +Scheduled +Pending`));
    const one = await kubenodeAs(kubeconfig, 'maintenance', 'show', name, '-o', 'json');
    expect(JSON.parse(one.stdout)).toMatchObject({ event: name, actAt: '2099-01-01T00:35:00Z' });
    const why = await kubenodeAs(kubeconfig, 'why', 'machine', machine);
    expect(why.stdout).toContain(`announced ${name}: Reboot Scheduled`);
    const unknown = await kubenodeAs(kubeconfig, 'maintenance', 'show', 'nothing');
    expect([unknown.code, unknown.stderr]).toEqual([65, expect.stringContaining(name)]);
  });
});

describe('the account of Host Doctor', () => {
  it('does all that this test uses its rights for without a refusal', async () => {
    logged = '';
    // oxlint-disable-next-line no-await-in-loop -- one after the other, as below
    for (const { verb } of RIGHTS) await USES[verb]?.();
    await isShown(await report(await newMachine()), 'Pending TooEarly');
    expect(missed()).toEqual([]);
  });

  it.each(RIGHTS.map((right) => [`${right.verb} ${right.resource}`, right] as const))(
    'misses the right to %s, logs it, and continues with it',
    async (text, right) => {
      const giveBack = await takeAway(right);
      logged = '';
      await USES[right.verb]?.();
      await expect.poll(missed).toEqual([`${PRINCIPAL_HOSTDOCTOR}: ${text}`]);
      await giveBack();
      await isShown(await report(await newMachine()), 'Pending TooEarly');
    },
  );

  it('MAC-37 reports what a provider announces, and nothing without one of the rights for that', async () => {
    await poll();
    for (const right of POLL_RIGHTS) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const giveBack = await takeAway(right);
      // oxlint-disable-next-line no-await-in-loop
      await expect(poll()).rejects.toThrow(/maintenanceevents.*is forbidden|cannot (create|patch) resource/);
      // oxlint-disable-next-line no-await-in-loop
      await giveBack();
    }
    await poll();
    expect(POLL_RIGHTS).toHaveLength(2);
  });
});
