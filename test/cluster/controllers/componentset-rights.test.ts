/** Each right of the account of component sets is taken away from `kubenode controllers`, which then logs that it misses it. */
import { afterAll, beforeAll, describe, expect, it, onTestFailed, onTestFinished } from 'vitest';
import { MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS } from '../../../src/api/generated/resources.ts';
import {
  NAMESPACE,
  NAMESPACE_OF_API_SERVERS,
  PRINCIPAL_COMPONENTSET,
  SLICE_OF_API_SERVERS,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { componentsetRights } from '../../../src/api/roles/controllers.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { CONTROLLER_REVISIONS } from '../../../src/controllers/componentset/revision/stored-revisions.ts';
import { ENDPOINT_SLICES } from '../../../src/kube/objects/core-kinds.ts';
import type { Resource } from '../../../src/kube/objects/object.ts';
import { componentSpec } from '../../support/agent/component-spec.ts';
import { callback } from '../../support/fault-proxy/faults.ts';
import { openWatches } from '../../support/fault-proxy/watch-faults.ts';
import { type FaultProxy, faultProxy } from '../../support/fault-proxy.ts';
import { slice } from '../../support/sweep-size.ts';
import { ACCOUNTS } from '../defender/objects.ts';
import { startLoggedControllers } from '../defender/processes.ts';
import { CONTROLLERS } from './machine-cluster.ts';
import {
  expectedMisses,
  missedRights,
  type Right,
  rightInForce,
  rightsIn,
  textOf,
  withoutRight,
} from './rights.ts';
import { type RolloutFleet, startRolloutFleet } from './rollout-fleet.ts';

const POOL = 'mine';
const RIGHTS = rightsIn(componentsetRights);
const READS = ['get', 'list', 'watch'];
const WRITES = RIGHTS.filter(({ verb }) => !READS.includes(verb));
const READ_KINDS = [MACHINE_COMPONENT_SETS, MACHINE_COMPONENTS, CONTROLLER_REVISIONS, ENDPOINT_SLICES];

describe('the account of component sets', () => {
  let fleet: RolloutFleet;
  let proxy: FaultProxy;
  let logged = '';
  let version = 1;
  const watches = new Map(READ_KINDS.map(({ plural }) => [plural, openWatches()]));

  beforeAll(async () => {
    fleet = await startRolloutFleet(async ({ server }) => {
      proxy = await faultProxy(server);
      for (const [resource, { fault }] of watches) proxy.on({ verb: 'watch', resource, fault });
      const kubeconfig = proxy.kubeconfigFor(CONTROLLERS);
      return () =>
        startLoggedControllers(kubeconfig, (text) => {
          logged += text;
        });
    });
    await fleet.pool(POOL, 1);
  });

  afterAll(async () => {
    await fleet?.stop();
    await proxy?.close();
  });

  const missed = (): readonly string[] => missedRights(logged);

  async function declareNext(): Promise<void> {
    version += 1;
    await fleet.declare(POOL, `${version}.0`);
  }

  async function inForce(rights: readonly Right[], expected: boolean): Promise<void> {
    const account = await fleet.cluster.installed.as(serviceAccountUser(PRINCIPAL_COMPONENTSET), ACCOUNTS);
    await Promise.all(rights.map((right) => rightInForce(account, right, expected)));
  }

  /** Returns what gives them back. */
  async function takeAway(...rights: readonly Right[]): Promise<() => Promise<void>> {
    const giveBack = await withoutRight(fleet.cluster.admin, PRINCIPAL_COMPONENTSET, ...rights);
    onTestFinished(giveBack);
    onTestFailed(() => void process.stderr.write(logged));
    await inForce(rights, false);
    return async () => {
      await giveBack();
      await inForce(rights, true);
    };
  }

  /** Its watch ends as that of a client that fell too far behind, so that it lists again. */
  async function listAgain(resource: string, beforeList: () => unknown = () => undefined): Promise<void> {
    const listed = Promise.withResolvers<void>();
    const before = callback(async () => {
      await beforeList();
      listed.resolve();
    });
    const rule = proxy.on({ verb: 'list', resource, nth: 1, fault: before });
    // One that was not used would take the list of the next test.
    onTestFinished(() => rule.remove());
    watches.get(resource)?.end(410);
    await listed.promise;
  }

  /** Objects that are missing in the next lists are read by their names. */
  async function loseSpares(rights: readonly Right[]): Promise<void> {
    const spares = await Promise.all(rights.map((right) => createSpare(right)));
    // The process has received them, when a watch delivered what was written after them.
    await declareNext();
    await fleet.completed(POOL);
    await Promise.all(spares.map((remove, index) => listAgain((rights[index] as Right).resource, remove)));
  }

  /** Returns what removes it. */
  async function createSpare({ resource: plural }: Right): Promise<() => Promise<unknown>> {
    if (plural === ENDPOINT_SLICES.plural) return await publishServers();
    const { admin } = fleet.cluster;
    const resource = READ_KINDS.find((each) => each.plural === plural) as Resource;
    const name = 'spare-1.0';
    const namespaced = resource.namespaced ? { namespace: NAMESPACE } : {};
    const target = { name, ...namespaced };
    const { group, version: apiVersion, kind } = resource;
    const contents: Readonly<Record<string, object>> = {
      machinecomponents: { spec: componentSpec('1.0', { component: 'spare', artifacts: [], files: [] }) },
      machinecomponentsets: {
        spec: {
          machineSelector: { matchLabels: { pool: 'none' } },
          components: [{ name: POOL, componentRef: `${POOL}-1.0` }],
        },
      },
      controllerrevisions: { revision: 1, data: {} },
    };
    const head = { apiVersion: `${group}/${apiVersion}`, kind, metadata: target };
    const { uid = '' } = (await admin.create(resource, { ...head, ...contents[plural] })).metadata;
    return () => admin.delete(resource, target, { uid });
  }

  /** As API servers do; those of the tests publish nothing. Returns what removes it. */
  async function publishServers(...addresses: readonly string[]): Promise<() => Promise<unknown>> {
    const { admin } = fleet.cluster;
    const target = { name: SLICE_OF_API_SERVERS, namespace: NAMESPACE_OF_API_SERVERS };
    const { metadata } = await admin.create(ENDPOINT_SLICES, {
      apiVersion: 'discovery.k8s.io/v1',
      kind: ENDPOINT_SLICES.kind,
      metadata: target,
      addressType: 'IPv4',
      endpoints: addresses.length === 0 ? [] : [{ addresses }],
      ports: [{ name: 'https', port: 6443 }],
    });
    return () => admin.delete(ENDPOINT_SLICES, target, { uid: metadata.uid ?? '' });
  }

  /** As a rollout leaves it that was changed before it began. */
  async function leaveRevision(): Promise<void> {
    const { metadata, apiVersion, kind } = await fleet.set(POOL);
    const owner = { apiVersion, kind, name: POOL, uid: metadata.uid ?? '', controller: true };
    const name = `${POOL}-outdated`;
    await fleet.cluster.admin.create(CONTROLLER_REVISIONS, {
      apiVersion: 'apps/v1',
      kind: 'ControllerRevision',
      metadata: { name, namespace: NAMESPACE, ownerReferences: [owner] },
      data: {},
      revision: 1,
    });
    await declareNext();
  }

  /** Only for kubelets the API servers are found. None is moved to a version as old as that. */
  async function declareKubelet(): Promise<void> {
    const { admin } = fleet.cluster;
    const options = { fieldManager: 'test', force: true };
    const head = { apiVersion: API_VERSION, metadata: { name: 'kubelet-1.0.0' } };
    const spec = componentSpec('1.0.0', {
      component: 'kubelet',
      identity: 'Kubelet',
      artifacts: [],
      files: [],
    });
    await admin.apply(MACHINE_COMPONENTS, { ...head, kind: 'MachineComponent', spec }, options);
    const set = {
      ...head,
      kind: 'MachineComponentSet',
      metadata: { name: 'kubelet' },
      spec: {
        machineSelector: { matchLabels: { pool: POOL } },
        components: [{ name: 'kubelet', componentRef: 'kubelet-1.0.0' }],
      },
    };
    await admin.apply(MACHINE_COMPONENT_SETS, set, options);
  }

  /** What all its views do with the verb. */
  async function read(verb: string): Promise<void> {
    const rights = RIGHTS.filter((right) => right.verb === verb);
    if (verb === 'get') return await loseSpares(rights);
    if (verb === 'watch') return rights.forEach(({ resource }) => watches.get(resource)?.end());
    await Promise.all(rights.map(({ resource }) => listAgain(resource)));
  }

  async function useRight(right: Right): Promise<void> {
    if (right.resource === 'controllerrevisions' && right.verb === 'delete') return await leaveRevision();
    return await declareNext();
  }

  async function toldBySet(): Promise<string> {
    const { status } = await fleet.set('kubelet').catch(() => ({ status: undefined }));
    return `${status?.waiting?.reason}: ${status?.waiting?.message}`;
  }

  it('does a rollout, and all that this test uses its rights for, without a refusal', async () => {
    logged = '';
    // oxlint-disable no-await-in-loop -- one after the other, as below
    for (const verb of READS) await read(verb);
    for (const right of WRITES) await useRight(right);
    // oxlint-enable no-await-in-loop
    await declareNext();
    await fleet.completed(POOL);
    expect(missed()).toEqual([]);
  });

  it.each(slice(READS, 1))(
    'misses the rights to %s what it watches, logs each, and continues with them',
    async (verb) => {
      const rights = RIGHTS.filter((right) => right.verb === verb);
      const giveBack = await takeAway(...rights);
      logged = '';
      await read(verb);
      await expect.poll(missed).toEqual(expectedMisses(PRINCIPAL_COMPONENTSET, ...rights));
      await giveBack();
      await declareNext();
      await fleet.completed(POOL);
    },
  );

  it.each(slice(WRITES, 2).map((right) => [textOf(right), right] as const))(
    'misses the right to %s, logs it, and continues with it',
    async (_text, right) => {
      const giveBack = await takeAway(right);
      logged = '';
      await useRight(right);
      await expect.poll(missed).toEqual(expectedMisses(PRINCIPAL_COMPONENTSET, right));
      await giveBack();
      await declareNext();
      await fleet.completed(POOL);
    },
  );

  it('ROL-53 moves no kubelet while a published API server does not answer, and lists nothing meanwhile (ROL-64)', async () => {
    onTestFailed(() => void process.stderr.write(logged));
    await declareKubelet();
    await expect.poll(toldBySet).toMatch(/^KubeletSkew: /);
    const before = proxy.log.length;
    // No host has an address of documentation.
    const withdraw = await publishServers('192.0.2.1');
    await expect.poll(toldBySet).toMatch(/^ServerVersionUnknown: .*192\.0\.2\.1/);
    await withdraw();
    await expect.poll(toldBySet).toMatch(/^KubeletSkew: /);
    expect(proxy.log.slice(before).filter(({ verb }) => verb === 'list')).toEqual([]);
  });
});
