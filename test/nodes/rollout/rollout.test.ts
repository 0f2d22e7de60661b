import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINE_COMPONENT_SETS } from '../../../src/api/generated/resources.ts';
import type { Machine, MachineComponentSet } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { CONTROL_PLANE_VERSION } from '../../../src/local/binaries/versions.ts';
import { WEB } from '../../cluster/controllers/budgeted-pod.ts';
import { applyFleetDefault, readLedger } from '../../cluster/defender/objects.ts';
import { type NodeCluster, startNodeCluster } from '../../support/agent/node-cluster.ts';
import { containerdComponent, kubeletComponent } from '../../support/agent/node-components.ts';
import { importImage } from '../../support/node-kit/image.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import {
  noOlderKubeletReason,
  OLDER_KUBELET_VERSION,
  olderKubelet,
} from '../../support/node-kit/older-kubelet.ts';
import { type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { type Journal, startJournal } from '../journal.ts';
import {
  deleteMachineOf,
  namesOfMachines,
  readMachine as readMachineOf,
  SELDOM,
  untilFleet,
} from '../observed-fleet.ts';
import { runWebPod, startWorkload, webPodOf } from './workload.ts';

const reason = whyNoNodes() ?? (await noOlderKubeletReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAMES = ['n1', 'n2'] as const;
/** Kubelet and containerd make them, where nothing was before. */
const TRACES = ['/var/lib/kubelet', '/run/netns', '/var/lib/cni', '/sys/class/net/cni0'];
const SET = 'nodes';
const OLD = OLDER_KUBELET_VERSION.slice(1);
const NEW = CONTROL_PLANE_VERSION.slice(1);
/** Not newer than the API server: a newer one would be held back. */
const BROKEN = `${NEW.slice(0, NEW.lastIndexOf('.'))}.0`;
/** One machine at a time, which may serve nothing meanwhile. */
const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'one', per: 'Cluster', risks: ['Node', 'Machine'], max: 1 }],
  counting: { lingerSeconds: 0, smallPool: { below: 1, max: 1 } },
  zones: { haltPercent: 100, minNodes: 1000 },
};
const ROLLOUT = {
  batches: [1],
  maxUnavailable: 1,
  gate: { soakSeconds: 10 },
  failure: { maxFailed: 0, onFailure: 'RollbackBatch' },
};

// Each test begins where the one before it ended.
describe.skipIf(reason)(
  `a kubelet on two real nodes${reason ? ` (${reason})` : ''}`,
  { shuffle: false },
  () => {
    let cluster: NodeCluster;
    let client: Client;
    let nodes: ReadonlyMap<string, TestNode>;
    let journal: Journal;

    beforeAll(async () => {
      cluster = await startNodeCluster({ kubernetes: ['disruption'], imports: true });
      ({ client } = cluster.installed.server);
      await applyFleetDefault(cluster.installed, POLICY);
      await cluster.publish(containerdComponent('1.0.0'));
      await publishKubelet(OLD, await olderKubelet());
      await publishKubelet(NEW, await kubeletBinary());
      const broken = join(tempFolder('broken'), 'kubelet');
      await writeFile(broken, '#!/bin/sh\necho "cannot start"\nexit 3\n');
      await publishKubelet(BROKEN, broken);
      journal = await startJournal(client, 'kubelet');
      const hosts = await Promise.all(NAMES.map((name) => cluster.bootBare(name)));
      await cluster.importHosts(hosts, { pool: SET });
      nodes = new Map(hosts.map(({ node }) => [node.name, node]));
    });
    afterAll(async () => {
      try {
        await journal?.[Symbol.asyncDispose]();
      } finally {
        await cluster?.[Symbol.asyncDispose]();
      }
    });

    async function publishKubelet(version: string, file: string): Promise<void> {
      const artifact = await cluster.serve(file);
      await cluster.publish(kubeletComponent(version, artifact, { activation: { class: 'Drain' } }));
    }

    async function declareKubelet(version: string): Promise<void> {
      const object = {
        apiVersion: 'kubenode.dev/v1alpha1',
        kind: 'MachineComponentSet',
        metadata: { name: SET },
        spec: {
          machineSelector: { matchLabels: { pool: SET } },
          components: [
            { name: 'containerd', componentRef: 'containerd-1.0.0' },
            { name: 'kubelet', componentRef: `kubelet-${version}` },
          ],
          rollout: ROLLOUT,
        },
      };
      await client.apply(MACHINE_COMPONENT_SETS, object, { fieldManager: 'test', force: true });
    }

    async function readSet(): Promise<MachineComponentSet> {
      return await client.get<MachineComponentSet>(MACHINE_COMPONENT_SETS, { name: SET });
    }

    async function readMachine(name: string): Promise<Machine> {
      return await readMachineOf(client, name);
    }

    async function until(what: string, isSo: () => Promise<boolean>): Promise<void> {
      await untilFleet({ client, nodes: [...nodes.values()], journal }, what, isSo);
    }

    async function printed(line: string, from: number): Promise<void> {
      await until(`it did not happen: ${line}`, async () => journal.lines(from).includes(line));
    }

    /** With its start: another process may get the same number. */
    async function kubeletProcess(name: string): Promise<string | undefined> {
      const properties = '--property=MainPID,ExecMainStartTimestampMonotonic';
      return (await nodes.get(name)?.run('systemctl', 'show', properties, 'kubelet.service'))?.stdout;
    }

    function assigned(from: number, version: string): readonly string[] {
      return NAMES.filter((name) => journal.lines(from).includes(`${name} is assigned ${version}`));
    }

    /** Of a rollout that has ended: grants that are not given back, and cordons. */
    async function leftovers(): Promise<readonly string[]> {
      const machines = await Promise.all(NAMES.map(readMachine));
      const entries = machines.flatMap(({ metadata, spec }) =>
        spec.components
          .filter(({ grant }) => grant)
          .map(({ name }) => `${metadata.name}: ${name} has a grant`),
      );
      const grants = Object.entries((await readLedger(client)).spec.grants);
      const { items } = await client.list(NODES);
      return [
        ...entries,
        ...grants.flatMap(([name, { state }]) => (state === 'Settled' ? [] : `${name}: grant ${state}`)),
        ...items.filter(isCordoned).map(({ metadata }) => `${metadata.name} is cordoned`),
      ];
    }

    /** Of what happened since then, those lines in their order. */
    function happened(from: number, lines: readonly string[]): readonly string[] {
      return journal.lines(from).filter((line) => lines.includes(line));
    }

    it('MAC-18 starts with the older minor version on both, whose kubelets register with the start-up taint', async () => {
      await declareKubelet(OLD);
      for (const name of NAMES) await printed(`${name} is Ready with v${OLD}`, 0);
      await printed(`${SET} ends containerd-1.0.0 ${OLD}: Completed`, 0);
      for (const name of NAMES) {
        const starting = [`${name} has the start-up taint`, `${name} has no start-up taint`];
        await printed(`${name} has no start-up taint`, 0);
        expect(happened(0, starting)).toEqual(starting);
      }
      await Promise.all([...nodes.values()].map(importImage));
      await startWorkload(client, NAMES);
      await expect.poll(leftovers, SELDOM).toEqual([]);
    });

    it('ROL-52 is upgraded by a minor version one node after the other, each drained within the budget of its pods', async () => {
      const from = journal.lines().length;
      await declareKubelet(NEW);
      await until('no machine is assigned', async () => assigned(from, NEW).length === 1);
      const [first = ''] = assigned(from, NEW);
      const second = otherThan(first);
      await printed(`${second} is cordoned by kubenode`, from);
      await until('the budget does not keep the pod', async () => {
        const { waiting } = (await readMachine(second)).status ?? {};
        return waiting?.blocker?.kind === 'PodDisruptionBudget' && waiting.blocker.name === 'web';
      });
      expect(journal.lines(from)).not.toContain(`${webPodOf(second)} is evicted`);
      await runWebPod(client, first);
      const end = `${SET} ends containerd-1.0.0 ${NEW}: Completed`;
      await printed(end, from);
      const expected = [first, second].flatMap((name, batch) => [
        `${SET} opens batch ${batch}`,
        `${name} is assigned ${NEW}`,
        `${name} is cordoned by kubenode`,
        `${webPodOf(name)} is evicted`,
        `${name} is drained for ${NEW}`,
        `${name} is Ready with v${NEW}`,
        `${SET} soaks batch ${batch}`,
      ]);
      expect(happened(from, [...expected, end])).toEqual([...expected, end]);
      const lines = journal.lines(from);
      const before = lines.slice(0, lines.indexOf(`${second} is assigned ${NEW}`));
      expect(before).toEqual(expect.arrayContaining([`${first} has no grant`, `${first} is not cordoned`]));
      await expect.poll(leftovers, SELDOM).toEqual([]);
      await runWebPod(client, second);
    });

    it('ROL-32 returns to the version before when the next one does not start, and the other node is untouched', async () => {
      const from = journal.lines().length;
      const before = new Map<string, string | undefined>(
        await Promise.all(NAMES.map(async (name) => [name, await kubeletProcess(name)] as const)),
      );
      await declareKubelet(BROKEN);
      const end = `${SET} ends containerd-1.0.0 ${BROKEN}: RolledBack`;
      await printed(end, from);
      const [failed = ''] = assigned(from, BROKEN);
      const untouched = otherThan(failed);
      const expected = [
        `${failed} is assigned ${BROKEN}`,
        `${failed} is cordoned by kubenode`,
        `${webPodOf(failed)} is evicted`,
        `${failed} is drained for ${BROKEN}`,
        `${failed} is RolledBack at ${NEW}`,
        `${failed} is assigned ${NEW}`,
        end,
      ];
      expect(happened(from, expected)).toEqual(expected);
      expect(journal.lines(from).filter((line) => line.startsWith(untouched))).toEqual([]);
      expect(await kubeletProcess(untouched)).toBe(before.get(untouched));
      await expect.poll(leftovers, SELDOM).toEqual([]);
      // The status of the set follows the grants that it reports on.
      const counts = { selected: 2, updated: 0, rolledBack: 1, inProgress: 0 };
      await expect.poll(async () => (await readSet()).status?.counts, SELDOM).toMatchObject(counts);
      const { status } = await readSet();
      for (const type of ['Ready', 'Stalled']) {
        const condition = conditionOf(status?.conditions, type);
        expect(condition).toMatchObject({ reason: 'RolledBack' });
        // By when it exits: while systemd starts it, or later.
        expect(condition?.message).toMatch(/on 1 of 1: kubelet: unit kubelet (ended|failed)/);
        expect(condition?.message).toContain(`machines: ${failed}`);
      }
      const io = testIo({ env: { KUBECONFIG: cluster.installed.server.kubeconfig } });
      expect(await runCommandLine(io, ['why', 'rollout', SET])).toBe(0);
      expect(io.stdout).toContain(`kubelet-${NEW} → kubelet-${BROKEN}`);
      expect(io.stdout).toMatch(new RegExp(`^${failed} +kubelet \\w+ .*unit kubelet`, 'm'));
      // A table folds its cells.
      const unfolded = io.stdout.replaceAll(/\s+/g, ' ');
      expect(unfolded).toContain('exit code 3');
      expect(unfolded).toContain('commit another version, or a new spec.retryToken');
    });

    /** The budget keeps the pod that is left where it is. */
    async function nodeWithPod(): Promise<(typeof NAMES)[number]> {
      const pods = (await client.list(PODS, { namespace: WEB.namespace })).items;
      const names = pods.map(({ metadata }) => metadata.name);
      return NAMES.find((name) => names.includes(webPodOf(name))) ?? NAMES[0];
    }

    it('MAC-16 MAC-20 needs no SSH once the agents report, and gives a host back without what was installed', async () => {
      const first = await nodeWithPod();
      const last = otherThan(first);
      await nodes.get(first)?.run('systemctl', 'stop', 'ssh.service');
      const before = await readMachine(first);
      expect(conditionOf(before.status?.conditions, 'SSHCredentialsNeeded')).toMatchObject({
        status: 'False',
      });
      expect(before.status?.import).toMatchObject({ machineID: expect.any(String) as string });
      const released = nodes.get(last);
      // Its pods had a network.
      await released?.run('ls', '-d', ...TRACES);
      await deleteMachineOf({ client }, last);
      await expect.poll(() => namesOfMachines(client), SELDOM).toEqual([first]);
      expect((await client.list(NODES)).items.map(({ metadata }) => metadata.name)).toEqual([first]);
      const left = await released?.run(
        'sh',
        '-c',
        `ls -d /var/lib/kubenode /opt/kubenode /usr/local/lib/kubenode ${TRACES.join(' ')} 2>/dev/null; systemctl is-active kubelet kubenode-agent; true`,
      );
      expect(left?.stdout.split('\n')).toEqual(['inactive', 'inactive', '']);
      expect((await readMachine(first)).status?.phase).toBe('Ready');
    });
  },
);

function otherThan(name: string): string {
  return NAMES.find((each) => each !== name) ?? '';
}
