/** Each right of the accounts of Machines and MachineSets is taken away from `kubenode controllers`, which then logs that it misses it. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MACHINE_SETS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine } from '../../../src/api/generated/types.ts';
import {
  ANNOTATION_CONFIRM_DELETE,
  LABEL_AGENT_BLOCKED,
  NAMESPACE_AGENTS,
  NAMESPACE_HOSTS,
  PRINCIPAL_MACHINE,
  PRINCIPAL_MACHINESET,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { machineRights, machinesetRights } from '../../../src/api/roles/controllers.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { createBootstrapToken } from '../../../src/controllers/bootstraptoken/execute.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { CONFIG_MAPS } from '../../../src/kube/objects/core-kinds.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { createSshProvider } from '../../../src/providers/ssh/pool/provider.ts';
import { readClusterUID } from '../../../src/sync/cluster-uid.ts';
import { NEVER, requestOf } from '../../providers/contract/harness.ts';
import { hosts, poolObject } from '../../providers/ssh/pool/bed.ts';
import { slice } from '../../support/sweep-size.ts';
import { ACCOUNTS } from '../defender/objects.ts';
import { startLoggedControllers } from '../defender/processes.ts';
import { createBudget, createPod, deleteBudget } from './budgeted-pod.ts';
import { CONTROLLERS, type MachineCluster, startMachineCluster } from './machine-cluster.ts';
import { missedRights, type Right, rightInForce, rightsIn, rightTo, textOf, withoutRight } from './rights.ts';

const MACHINE = rightsIn(machineRights);
/** Used for the tokens of new hosts, and when the provider local is opened. */
const JOINING: readonly string[] = ['get machines', 'create secrets', 'delete secrets', 'get namespaces'];
/** Used for hosts that are imported over SSH. */
const IMPORTING: readonly string[] = ['get secrets', 'create certificatesigningrequests'];
/** Used for hosts of pools. */
const POOLING = MACHINE.filter(({ namespace }) => namespace === NAMESPACE_HOSTS);
const MACHINESET = rightsIn(machinesetRights);
/** Used for sets whose hosts are in a pool. */
const NAMING = MACHINESET.filter(({ namespace }) => namespace === NAMESPACE_HOSTS);
/** Used for pods that the server does not let go: the Machine reports it. */
const DRAINING: readonly string[] = ['list poddisruptionbudgets', 'create pods/eviction'];
/** Used for a Machine that may have an instance, and whose Node is not known. */
const ENDING: readonly string[] = ['get nodes'];
/** The message is cut at its maximum. */
const EVICTION_REFUSED =
  /pods \W+web-on-\S+ is forbidden: User \W+system:serviceaccount:kubenode-system:kubenode-machine/;
/** The pod is web-on-<machine>. */
const BUDGET = /default\/web(?!-)/;
const SANDBOX = { infra: { provider: 'local' }, host: { type: 'sandbox' } };

describe('the accounts of machines', () => {
  let cluster: MachineCluster;
  let logged = '';
  let made = 0;
  const missed = (): readonly string[] => missedRights(logged);

  beforeAll(async () => {
    cluster = await startMachineCluster(undefined, async ({ server }) => {
      const kubeconfig = await server.kubeconfigFor(CONTROLLERS);
      return () =>
        startLoggedControllers(kubeconfig, (text) => {
          logged += text;
        });
    });
    cluster.start(1);
  });
  afterAll(() => cluster?.stop());

  async function accountOf(principal: string): Promise<Client> {
    return await cluster.installed.as(serviceAccountUser(principal), ACCOUNTS);
  }

  /** Returns what gives it back. */
  async function takeAway(principal: string, right: Right): Promise<() => Promise<void>> {
    const account = await accountOf(principal);
    const giveBack = await withoutRight(cluster.admin, principal, right);
    onTestFinished(giveBack);
    await rightInForce(account, right, false);
    logged = '';
    return async () => {
      await giveBack();
      await rightInForce(account, right, true);
    };
  }

  async function declareMachine(spec: object): Promise<string> {
    made += 1;
    const name = `m-${made}`;
    await cluster.admin.create(MACHINES, {
      apiVersion: API_VERSION,
      kind: 'Machine',
      metadata: { name },
      spec,
    });
    return name;
  }

  async function createMachine(): Promise<string> {
    const name = await declareMachine(SANDBOX);
    await expect.poll(async () => isReady(await cluster.machine(name))).toBe(true);
    return name;
  }

  async function blockAgent(name: string, why: string | null): Promise<void> {
    const body = { metadata: { labels: { [LABEL_AGENT_BLOCKED]: why } } };
    await cluster.admin.patch(MACHINES, { name }, { type: 'merge', body });
    const label = async (): Promise<string | undefined> => {
      const { metadata } = await cluster.admin.get(LEASES, { name, namespace: NAMESPACE_AGENTS });
      return metadata.labels?.[LABEL_AGENT_BLOCKED];
    };
    await expect.poll(label).toBe(why ?? undefined);
  }

  /** A Machine that joins, whose agent is blocked for a while, and that is drained and deleted. */
  async function liveAndDie(): Promise<void> {
    const name = await createMachine();
    await blockAgent(name, 'CertificateLost');
    await blockAgent(name, null);
    await createPod(cluster.admin, name);
    await cluster.deleteMachine(name);
    await expect.poll(() => cluster.machine(name)).toBeUndefined();
  }

  async function machinesOf(set: string): Promise<readonly Machine[]> {
    return (await cluster.machines()).filter(({ metadata }) => metadata.name.startsWith(`${set}-`));
  }

  /** A set of one Machine, which changes it, is emptied, and is deleted. */
  async function setLivesAndDies(): Promise<void> {
    made += 1;
    const name = `s-${made}`;
    const own = (): Promise<readonly Machine[]> => machinesOf(name);
    await declareSet(name, 1);
    await expect.poll(async () => (await own()).map(isReady)).toEqual([true]);
    await declareSet(name, 1, { node: { labels: { set: name } } });
    await expect.poll(async () => (await own()).map(({ spec }) => spec.node.labels)).toEqual([{ set: name }]);
    await declareSet(name, 0);
    await expect.poll(own).toEqual([]);
    const { uid = '' } = (await cluster.set(name)).metadata;
    const body = { metadata: { annotations: { [ANNOTATION_CONFIRM_DELETE]: uid } } };
    await cluster.admin.patch(MACHINE_SETS, { name }, { type: 'merge', body });
    await cluster.admin.delete(MACHINE_SETS, { name }, { uid });
  }

  /** What Machines wait for, as they report it. */
  async function waits(): Promise<string> {
    const all = await cluster.machines();
    return all.map(({ status }) => JSON.stringify([status?.waiting, status?.drain])).join('\n');
  }

  async function declareSet(name: string, replicas: number, more: object = {}): Promise<void> {
    const head = { apiVersion: API_VERSION, kind: 'MachineSet', metadata: { name } };
    const spec = { replicas, template: { ...SANDBOX, ...more } };
    await cluster.admin.apply(MACHINE_SETS, { ...head, spec }, { fieldManager: 'test', force: true });
  }

  /** By who runs with the account: a command, or the provider of this machine. */
  async function join(machine: string): Promise<void> {
    const client = await accountOf(PRINCIPAL_MACHINE);
    await readClusterUID(client, AbortSignal.timeout(600_000));
    await createBootstrapToken({
      client,
      machine,
      now: createSystemClock().now(),
      randomInt: () => made,
      seconds: 1,
    });
  }

  async function isTokenLeft(machine: string): Promise<boolean> {
    const { metadata } = await cluster.admin.get<Machine>(MACHINES, { name: machine });
    return JSON.stringify(metadata.annotations).includes('secretUid');
  }

  /** As the controller does for a set whose hosts are in a pool. */
  async function takeAndGiveBack(): Promise<void> {
    const client = await accountOf(PRINCIPAL_MACHINE);
    const provider = createSshProvider({
      client,
      clock: createSystemClock(),
      verifyClean: () => Promise.resolve(),
    });
    const request = requestOf({ config: { pool: 'rack7' }, host: 'systemd' });
    const id = await provider.create(request, NEVER);
    expect(await provider.get(id, NEVER)).toMatchObject({ id, state: 'Running' });
    await provider.delete(id, NEVER);
    expect(await provider.find(request.tags, NEVER)).toEqual([]);
  }

  it('MAC-30 take a host of a pool and give it back', async () => {
    await cluster.admin.create(CONFIG_MAPS, poolObject('rack7', { hosts: hosts(12) }));
    await expect(takeAndGiveBack()).resolves.toBeUndefined();
    await cluster.admin.delete(
      CONFIG_MAPS,
      { name: 'rack7', namespace: NAMESPACE_HOSTS },
      { uid: await uidOfPool() },
    );
  });

  it.each(slice(POOLING, 1).map((right) => [textOf(right), right] as const))(
    'miss the right to %s in the namespace of pools, and continue with it',
    async (text, right) => {
      await cluster.admin.create(CONFIG_MAPS, poolObject('rack7', { hosts: hosts(12) }));
      const giveBack = await takeAway(PRINCIPAL_MACHINE, right);
      const [verb, resource] = text.split(' ');
      await expect(takeAndGiveBack()).rejects.toMatchObject({
        code: 'Auth',
        message: expect.stringMatching(new RegExp(`cannot ${verb} resource "${resource}"`)) as string,
      });
      await giveBack();
      await takeAndGiveBack();
      await cluster.admin.delete(
        CONFIG_MAPS,
        { name: 'rack7', namespace: NAMESPACE_HOSTS },
        { uid: await uidOfPool() },
      );
    },
  );

  async function uidOfPool(): Promise<string> {
    const { metadata } = await cluster.admin.get(CONFIG_MAPS, { name: 'rack7', namespace: NAMESPACE_HOSTS });
    return metadata.uid ?? '';
  }

  it('do all that this test uses their rights for without a refusal', async () => {
    logged = '';
    await liveAndDie();
    await setLivesAndDies();
    const machine = await createMachine();
    await join(machine);
    await expect.poll(() => isTokenLeft(machine)).toBe(false);
    expect(missed()).toEqual([]);
  });

  it.each(
    slice(
      MACHINE.filter(
        (right) =>
          ![...JOINING, ...DRAINING, ...ENDING, ...IMPORTING].includes(textOf(right)) &&
          !POOLING.includes(right),
      ),
      2,
    ).map((right) => [textOf(right), right] as const),
  )('miss the right of Machines to %s, log it, and continue with it', async (text, right) => {
    const giveBack = await takeAway(PRINCIPAL_MACHINE, right);
    const living = liveAndDie();
    await expect.poll(missed).toEqual([`${PRINCIPAL_MACHINE}: ${text}`]);
    await giveBack();
    await living;
  });

  it.each(
    slice(
      MACHINESET.filter((right) => !NAMING.includes(right)),
      2,
    ).map((right) => [textOf(right), right] as const),
  )('miss the right of MachineSets to %s, log it, and continue with it', async (text, right) => {
    const giveBack = await takeAway(PRINCIPAL_MACHINESET, right);
    const living = setLivesAndDies();
    await expect.poll(missed).toEqual([`${PRINCIPAL_MACHINESET}: ${text}`]);
    await giveBack();
    await living;
  });

  it.each(NAMING.map((right) => [textOf(right), right] as const))(
    'miss the right of MachineSets to %s of pools, log it, and create no machine before they have it',
    async (text, right) => {
      const giveBack = await takeAway(PRINCIPAL_MACHINESET, right);
      const pooled = { infra: { provider: 'ssh', config: { pool: 'rack7' } }, host: { type: 'systemd' } };
      await declareSet('pooled', 1, pooled);
      await expect.poll(missed).toEqual([`${PRINCIPAL_MACHINESET}: ${text}`]);
      expect(await machinesOf('pooled')).toEqual([]);
      await giveBack();
      await expect.poll(() => machinesOf('pooled')).toHaveLength(1);
      await declareSet('pooled', 0, pooled);
      await expect.poll(() => machinesOf('pooled')).toEqual([]);
    },
  );

  it('miss the right to evict a pod, report it in the Machine, and continue with it', async () => {
    const giveBack = await takeAway(PRINCIPAL_MACHINE, rightTo(MACHINE, 'create pods/eviction'));
    const living = liveAndDie();
    await expect.poll(waits).toMatch(EVICTION_REFUSED);
    await giveBack();
    await living;
  });

  it('name no budget without the right to list them, and name it with it', async () => {
    const giveBack = await takeAway(PRINCIPAL_MACHINE, rightTo(MACHINE, 'list poddisruptionbudgets'));
    const name = await createMachine();
    await createPod(cluster.admin, name);
    await createBudget(cluster.admin);
    await cluster.deleteMachine(name);
    await expect.poll(waits).toMatch(/budget/i);
    expect(await waits()).not.toMatch(BUDGET);
    await giveBack();
    await expect.poll(waits).toMatch(BUDGET);
    await deleteBudget(cluster.admin);
    await expect.poll(() => cluster.machine(name)).toBeUndefined();
  });

  it('miss the right to get nodes for a Machine whose Node never came, log it, and continue with it', async () => {
    const name = await declareMachine({ ...SANDBOX, infra: { ...SANDBOX.infra, config: { zone: 'a' } } });
    await expect.poll(async () => (await cluster.machine(name))?.metadata.finalizers).toBeDefined();
    const giveBack = await takeAway(PRINCIPAL_MACHINE, rightTo(MACHINE, 'get nodes'));
    await cluster.deleteMachine(name);
    await expect.poll(missed).toEqual([`${PRINCIPAL_MACHINE}: get nodes`]);
    await giveBack();
    await expect.poll(() => cluster.machine(name)).toBeUndefined();
  });

  it.each(slice(['get machines', 'create secrets', 'get namespaces'], 1))(
    'miss the right to %s for a host that joins',
    async (text) => {
      const machine = await createMachine();
      const giveBack = await takeAway(PRINCIPAL_MACHINE, rightTo(MACHINE, text));
      const [verb, resource] = text.split(' ');
      await expect(join(machine)).rejects.toThrow(new RegExp(`cannot ${verb} resource "${resource}"`));
      await giveBack();
      await join(machine);
    },
  );

  it('miss the right to delete secrets, log it, and continue with it', async () => {
    const machine = await createMachine();
    const giveBack = await takeAway(PRINCIPAL_MACHINE, rightTo(MACHINE, 'delete secrets'));
    await join(machine);
    await expect.poll(missed).toEqual([`${PRINCIPAL_MACHINE}: delete secrets`]);
    await giveBack();
    await expect.poll(() => isTokenLeft(machine)).toBe(false);
  });
});

function isReady(machine: Machine | undefined): boolean {
  return conditionStatus(machine?.status?.conditions, 'Ready') === 'True';
}
