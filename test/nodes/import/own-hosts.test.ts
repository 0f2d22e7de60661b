/** Hosts with nothing but sshd: declared with kubectl alone, and then in a pool from which a MachineSet takes them. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LedgerGrant, Machine } from '../../../src/api/generated/types.ts';
import { ANNOTATION_DELETE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { conditionOf, conditionStatus } from '../../../src/kube/objects/conditions.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { listAt } from '../../../src/kube/objects/json.ts';
import { readLedger } from '../../cluster/defender/objects.ts';
import { type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { deleteMachineOf, namesOfMachines, readMachine, SELDOM, untilFleet } from '../observed-fleet.ts';
import {
  type BareFleet,
  GREETER,
  GREETER_VERSIONS,
  greeterOn,
  heartbeatOf,
  processesOn,
  startBareFleet,
  treeOf,
} from './bare-fleet.ts';
import {
  declarePool,
  declareSet,
  expectOneHostEach,
  freeHostOf,
  freeNodes,
  machinesOf,
  namesOf,
  nodeOf,
  POOL,
  poolRowsOf,
} from './set-of-hosts.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAMES = ['host-1', 'host-2'];
const TAINT = { key: 'dedicated', value: 'own', effect: 'NoSchedule' };
/** How long the deletion of a machine may take whose host does not answer. */
const LIMIT_SECONDS = 20;
const PROGRAM = '/usr/local/lib/kubenode/kubenode-agent';
const [FIRST, SECOND] = GREETER_VERSIONS;

// Each test begins where the one before it ended.
describe.skipIf(reason)(`two bare hosts${reason ? ` (${reason})` : ''}`, { shuffle: false }, () => {
  let fleet: BareFleet;
  let before: ReadonlyMap<TestNode, readonly string[]>;

  beforeAll(async () => {
    fleet = await startBareFleet(NAMES);
    before = new Map(
      await Promise.all(fleet.nodes.map(async (node) => [node, (await treeOf(node)).split('\n')] as const)),
    );
  });
  afterAll(() => fleet?.[Symbol.asyncDispose]());

  async function until(otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
    await untilFleet(fleet, otherwise, isSo);
  }

  /** Resolves with the Machines when so many exist, and all are Ready. */
  async function allReady(count: number): Promise<readonly Machine[]> {
    let all: readonly Machine[] = [];
    await until(`there are not ${count} machines that are Ready`, async () => {
      all = await machinesOf(fleet);
      return all.length === count && all.every(isReady);
    });
    return all;
  }

  /** What differs from the files before the first import. */
  async function changesOn(node: TestNode): Promise<readonly string[]> {
    const [lines, now] = [before.get(node) ?? [], (await treeOf(node)).split('\n')];
    return [
      ...now.filter((line) => !lines.includes(line)).map((line) => `+ ${line}`),
      ...lines.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ];
  }

  async function nodeNames(): Promise<readonly string[]> {
    return (await fleet.client.list(NODES)).items.map(({ metadata }) => metadata.name);
  }

  /** What kubectl applies: for each host how it is reached, and the versions. */
  function declared(version: string): readonly object[] {
    return fleet.hosts.map((host) => ({
      apiVersion: API_VERSION,
      kind: 'Machine',
      metadata: { name: host.node.name },
      spec: {
        infra: { provider: 'ssh' },
        import: host.import,
        node: {
          labels: { pool: 'own' },
          taints: [TAINT],
        },
        components: fleet.pins(version),
      },
    }));
  }

  async function settledGrant(name: string): Promise<LedgerGrant> {
    const latest = async (): Promise<LedgerGrant | undefined> =>
      (await readLedger(fleet.client)).spec.grants[name];
    await expect.poll(latest, SELDOM).toMatchObject({ state: 'Settled', action: 'UpdateComponent' });
    return (await latest()) as LedgerGrant;
  }

  /** Resolves when the journal has these lines for each host, in this order. */
  async function happened(from: number, texts: readonly string[]): Promise<void> {
    for (const name of NAMES) {
      const expected = texts.map((text) => `${name} ${text}`);
      const found = (): readonly string[] =>
        fleet.journal.lines(from).filter((line) => expected.includes(line));
      await until(`it did not happen: ${expected.join(', ')}`, () =>
        Promise.resolve(expected.every((line) => found().includes(line))),
      );
      expect(found()).toEqual(expected);
    }
  }

  describe('declared with kubectl alone', { shuffle: false }, () => {
    it('MAC-10 MAC-17 become Ready with the versions of spec.components, without git and without a set', async () => {
      expect(await fleet.apply(...declared(FIRST))).toContain('host-1 serverside-applied');
      await allReady(2);
      await happened(0, [`is Committed at ${FIRST}`]);
      for (const node of fleet.nodes) expect(await greeterOn(node)).toContain(`greeter ${FIRST}`);
      for (const node of (await fleet.client.list(NODES)).items) {
        expect(node.metadata.labels?.['pool']).toBe('own');
        expect(listAt(node, 'spec', 'taints')).toContainEqual(TAINT);
      }
    });

    it('MAC-17 stay as they are when the same is applied again: no generation, no grant and no restart', async () => {
      const state = async (): Promise<unknown> => {
        const machines = await Promise.all(NAMES.map((name) => readMachine(fleet.client, name)));
        return {
          processes: await Promise.all(fleet.nodes.map(processesOn)),
          generations: machines.map(({ metadata }) => metadata.generation),
          restarts: machines.map(({ status }) => status?.components?.map(({ restarts }) => restarts)),
          grants: await Promise.all(NAMES.map(settledGrant)),
        };
      };
      for (const name of NAMES) await settledGrant(name);
      await allReady(2);
      const [earlier, from] = [await state(), fleet.journal.lines().length];
      await fleet.apply(...declared(FIRST));
      // The agent has observed whatever the apply changed.
      for (const name of NAMES) {
        for (const _ of ['the one under way', 'the next one']) {
          const heartbeat = await heartbeatOf(fleet, name);
          await expect.poll(() => heartbeatOf(fleet, name), SELDOM).not.toBe(heartbeat);
        }
      }
      expect(await state()).toEqual(earlier);
      expect(fleet.journal.lines(from)).toEqual([]);
    });

    it.each([SECOND, FIRST])(
      'ROL-06 change one component to %s under a grant, and restart no other one',
      async (version) => {
        const from = fleet.journal.lines().length;
        const grants = await Promise.all(NAMES.map(settledGrant));
        const processes = await Promise.all(fleet.nodes.map(processesOn));
        await fleet.apply(...declared(version));
        const steps = [`is assigned ${version}`, 'has a grant', `is Committed at ${version}`, 'has no grant'];
        await happened(from, steps);
        for (const [index, node] of fleet.nodes.entries()) {
          const grant = await settledGrant(node.name);
          expect(grant).toMatchObject({ outcome: 'Succeeded', holder: { kind: 'Machine', name: node.name } });
          expect(grant.fence).toBeGreaterThan(grants[index]?.fence ?? Infinity);
          expect(await greeterOn(node)).toContain(`greeter ${version}`);
          const { [GREETER]: greeter, ...others } = await processesOn(node);
          const { [GREETER]: earlier, ...othersBefore } = processes[index] ?? {};
          expect(others).toEqual(othersBefore);
          expect(greeter).not.toBe(earlier);
        }
        await allReady(2);
      },
    );

    it('MAC-20 are given back as they were before, but for the data of containerd and kubelet', async () => {
      for (const name of NAMES) await deleteMachineOf(fleet, name);
      await until('a Machine is left', async () => (await namesOfMachines(fleet.client)).length === 0);
      expect(await nodeNames()).toEqual([]);
      for (const node of fleet.nodes) expect(await changesOn(node)).toEqual([]);
    });
  });

  describe('in a pool of a MachineSet', { shuffle: false }, () => {
    it('MAC-30 give one host to one machine, and the other one is not touched', async () => {
      await declarePool(fleet, FIRST);
      await declareSet(fleet, 1);
      await expectOneHostEach(fleet, await allReady(1), FIRST);
      const free = await freeNodes(fleet);
      expect(free).toHaveLength(1);
      for (const node of free) expect(await changesOn(node)).toEqual([]);
    });

    it('MAC-30 give each of two machines a host, and a third one reports who has them', async () => {
      await declareSet(fleet, 2);
      const machines = await allReady(2);
      await expectOneHostEach(fleet, machines, FIRST);
      await declareSet(fleet, 3);
      let third: Machine | undefined;
      await until('the third machine does not report that it has no host', async () => {
        third = (await machinesOf(fleet)).find((each) => !isReady(each));
        return third?.status?.waiting?.reason === 'NoFreeHost';
      });
      expect(conditionOf(third?.status?.conditions, 'InfraReady')).toMatchObject({
        reason: 'NoFreeHost',
        message: `no host of pool ${POOL} is free: 2 match, and belong to ${namesOf(machines).join(', ')}. Add hosts to the pool, or lower replicas`,
      });
      await expectOneHostEach(fleet, machines, FIRST);
    });

    it('MAC-20 MAC-30 are free, and as they were before, once their machine is deleted', async () => {
      await declareSet(fleet, 1);
      const machines = await allReady(1);
      await expectOneHostEach(fleet, machines, FIRST);
      const free = await freeNodes(fleet);
      expect(free).toHaveLength(1);
      for (const node of free) expect(await changesOn(node)).toEqual([]);
      expect(await nodeNames()).toEqual(namesOf(machines));
    });

    it('MAC-30 are given to the next machine after that, and the other machine keeps its own', async () => {
      const [kept] = await machinesOf(fleet);
      const node = nodeOf(fleet, kept as Machine);
      const processes = await processesOn(node);
      await declareSet(fleet, 2);
      const machines = await allReady(2);
      await expectOneHostEach(fleet, machines, FIRST);
      expect(machines.find(({ metadata }) => metadata.uid === kept?.metadata.uid)).toBeDefined();
      expect(await processesOn(node)).toEqual(processes);
      expect(await freeNodes(fleet)).toEqual([]);
    });

    it('MAC-20 MAC-30 are given to no machine when they cannot be cleaned in time, until a person has cleaned them', async () => {
      const [leaving] = (await machinesOf(fleet)) as [Machine];
      const { name } = leaving.metadata;
      const node = nodeOf(fleet, leaving);
      await declareSet(fleet, 2, LIMIT_SECONDS);
      await until('the time limit did not reach the machines', async () =>
        (await machinesOf(fleet)).every(({ spec }) => spec.deletion.timeoutSeconds === LIMIT_SECONDS),
      );
      await node.run('systemctl', 'stop', 'ssh.service');
      await fleet.kubectl('annotate', 'machine', name, `${ANNOTATION_DELETE}=`);
      await declareSet(fleet, 1, LIMIT_SECONDS);
      await until(
        'the deletion does not end',
        async () => (await namesOfMachines(fleet.client)).length === 1,
      );
      expect(await poolRowsOf(fleet)).toContainEqual(
        expect.objectContaining({ host: `${node.address}:22`, state: 'Unclean', machine: name }),
      );
      await declareSet(fleet, 2);
      const because = `${name}, which was deleted and may have left something (kubenode pool free)`;
      await until('the next machine does not report who has left the host', async () => {
        const next = (await machinesOf(fleet)).find((each) => !isReady(each));
        const ready = conditionOf(next?.status?.conditions, 'InfraReady');
        return ready?.reason === 'NoFreeHost' && ready.message.includes(because);
      });
      // Another Machine of its name would have the Node of this kubelet.
      expect((await node.run('systemctl', 'is-active', 'kubelet')).stdout).toBe('active\n');
      expect(await namesOfMachines(fleet.client)).not.toContain(name);
      await node.run('systemctl', 'start', 'ssh.service');
      await node.run(PROGRAM, 'release', '--cleanup', 'Restore');
      expect(await changesOn(node)).toEqual([]);
      await freeHostOf(fleet, node);
      await expectOneHostEach(fleet, await allReady(2), FIRST);
    });
  });
});

function isReady({ status }: Machine): boolean {
  return conditionStatus(status?.conditions, 'Ready') === 'True';
}
