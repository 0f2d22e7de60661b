/** The rotation of the authorities of a hosted control plane with a real node: a real agent, containerd, and the kubelet of the example fleet with a pod. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { identityFiles } from '../../../src/agent/identity/store.ts';
import { CLUSTER_CA_FILE, KUBELET_PKI } from '../../../src/agent/layout.ts';
import { fingerprintOf, isIssuedBy } from '../../../src/api/authorities/document.ts';
import {
  DEFENDER_POLICIES,
  MACHINE_COMPONENT_SETS,
  MACHINE_COMPONENTS,
  MACHINES,
} from '../../../src/api/generated/resources.ts';
import type { Machine, MachineAuthorities } from '../../../src/api/generated/types.ts';
import { FLEET_DEFAULT, MANAGER_SYNC } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { LEASES } from '../../../src/kube/leader/record.ts';
import { type Condition, conditionOf } from '../../../src/kube/objects/conditions.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject, Resource } from '../../../src/kube/objects/object.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { bootAgentNode } from '../../support/agent/booted-agent.ts';
import { type FileServer, startFileServer } from '../../support/agent/file-server.ts';
import { containerdComponent } from '../../support/agent/node-components.ts';
import { eventually } from '../../support/eventually.ts';
import { importImage } from '../../support/node-kit/image.ts';
import { kubeletBinary } from '../../support/node-kit/kubelet.ts';
import { type NodeKit, nodeKit, type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { LONG } from '../../support/sweep-size.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';
import { askKubelet, exampleKubelet, POD, podManifest } from './example-kubelet.ts';
import { followKubelet, type Observed } from './observed-kubelet.ts';
import { type ReachedPlane, startReachedPlane } from './reached-plane.ts';

const reason = whyNoNodes();
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const clock = createSystemClock();
const PLANE = 'rotating';
const NAME = 'n1';
const POOL = { pool: 'workers' };
/** A kubelet reads its certificate again after five minutes, and other tests share the machine. */
const ROTATED = { timeout: 1_200_000, interval: 500 };
const LIMIT = 2_400_000;
const HOUR_MS = 3_610_000;
const POLICY = {
  scope: { nodeSelector: { all: true } },
  concurrency: [{ name: 'one', per: 'Cluster', risks: ['Node', 'Machine'], max: 1 }],
  counting: { lingerSeconds: 0, smallPool: { below: 1, max: 1 } },
  zones: { haltPercent: 100, minNodes: 1000 },
};

interface Pod {
  readonly uid: string | undefined;
  readonly containerID: string | undefined;
  readonly restartCount: unknown;
  readonly startedAt: string | undefined;
  /** The processes of all containers of the node, with their numbers. */
  readonly tasks: string;
}

// Each test begins where the one before it ended. It takes a quarter of an hour: `npm run test:long` runs it.
describe.skipIf(reason || !LONG)(
  `the rotation of the authorities of a real node${reason ? ` (${reason})` : ''}`,
  { shuffle: false },
  () => {
    const ends: (() => Promise<unknown>)[] = [];
    let kit: NodeKit;
    let plane: ReachedPlane;
    let files: FileServer;
    let node: TestNode;
    /** As they were before the rotation. */
    let former: { readonly kubeconfig: string; readonly authority: string };
    let pod: Pod;
    let starts: number;
    let since: string | undefined;
    let stopFollowing: () => Promise<Observed>;

    beforeAll(async () => {
      kit = await nodeKit();
      ends.push(() => kit.close());
      plane = await startReachedPlane(PLANE, { host: kit.hostAddress, port: await findFreePort() });
      ends.push(() => plane.stop());
      files = await startFileServer(kit.hostAddress);
      ends.push(files.close);
      await until(
        'the control plane is not ready',
        async () => (await condition('ControlPlaneReady')) === 'True',
      );
      await declareFleet();
      node = await boot();
      await joined();
    }, LIMIT);
    afterAll(async () => {
      for (const end of ends.toReversed()) await end();
    });

    /** If it does not happen, the error has what the agent reports and printed. */
    async function until(otherwise: string, isSo: () => Promise<boolean>): Promise<void> {
      await eventually(async () => (await isSo()) || undefined, otherwise).catch(async (error: unknown) => {
        const units = ['--unit=kubenode-agent', '--unit=kubelet'];
        const log = await node
          ?.run('journalctl', '--no-pager', '--lines=200', ...units)
          .catch(() => undefined);
        const found = JSON.stringify([await plane.cluster(), await readMachine()], undefined, 1);
        throw new Error(`${String(error)}\n${found}\n${log?.stdout ?? ''}`, { cause: error });
      });
    }

    async function condition(type: string): Promise<string | undefined> {
      return conditionOf((await plane.cluster()).status?.conditions, type)?.status;
    }

    /** As sync does with what is in git. */
    async function declareFleet(): Promise<void> {
      const specs = [containerdComponent('1.0.0'), exampleKubelet(await files.serve(await kubeletBinary()))];
      const refs = specs.map((spec) => spec as { readonly component: string; readonly version: string });
      const names = refs.map(({ component, version }) => `${component}-${version}`);
      const set = {
        machineSelector: { matchLabels: POOL },
        components: refs.map(({ component }, index) => ({ name: component, componentRef: names[index] })),
        rollout: { batches: [1], maxUnavailable: 1, gate: { soakSeconds: 1 } },
      };
      const machine = { infra: { provider: 'local' }, host: { type: 'systemd' } };
      await declare(DEFENDER_POLICIES, { name: FLEET_DEFAULT }, POLICY);
      for (const [index, spec] of specs.entries()) {
        await declare(MACHINE_COMPONENTS, { name: names[index] ?? '' }, spec);
      }
      await declare(MACHINE_COMPONENT_SETS, { name: 'nodes' }, set);
      await declare(MACHINES, { name: NAME, labels: POOL }, machine);
    }

    async function declare(
      resource: Resource,
      metadata: KubeObject['metadata'],
      spec: object,
    ): Promise<void> {
      const object = { apiVersion: API_VERSION, kind: resource.kind, metadata, spec };
      await plane.asSync((client) => client.apply(resource, object, { fieldManager: MANAGER_SYNC }));
    }

    /** A person takes the kubeconfig from the machine that hosts the control plane, and the file of the token from it. */
    async function boot(): Promise<TestNode> {
      const admin = await printed(plane.hubKubeconfig, ['cluster', 'kubeconfig', PLANE]);
      const file = join(tempFolder('admin'), 'kubeconfig');
      writeFileSync(file, admin, { mode: 0o600 });
      return await bootAgentNode(kit, NAME, await printed(file, ['machine', 'token', NAME]));
    }

    async function joined(): Promise<void> {
      await until('there is no containerd', async () => (await stateOf('containerd')) === 'Committed');
      await importImage(node);
      await until('there is no kubelet', async () => (await stateOf('kubelet')) === 'Committed');
    }

    async function readMachine(): Promise<Machine | undefined> {
      return await plane
        .asAdmin((client) => client.get<Machine>(MACHINES, { name: NAME }))
        .catch(() => undefined);
    }

    async function stateOf(component: string): Promise<string | undefined> {
      return (await readMachine())?.status?.components?.find(({ name }) => name === component)?.state;
    }

    async function authorities(): Promise<Partial<MachineAuthorities>> {
      return (await readMachine())?.status?.agent?.authorities ?? {};
    }

    async function rotate(target: 'Prepare' | 'Complete'): Promise<void> {
      await plane.patch({ hosted: { pki: { caRotation: { id: 'first', target } } } });
    }

    async function rotation(): Promise<object> {
      const { caRotation, waiting } = (await plane.cluster()).status?.hosted ?? {};
      return { step: caRotation?.step, behind: caRotation?.behind, waiting: waiting?.reason };
    }

    async function podNow(): Promise<Pod> {
      const found = await plane.asAdmin((client) => client.get(PODS, POD));
      const container = listAt(found, 'status', 'containerStatuses')[0];
      const { stdout } = await node.run('ctr', '--namespace', 'k8s.io', 'task', 'list');
      return {
        uid: found.metadata.uid,
        containerID: textAt(container, 'containerID'),
        restartCount: valueAt(container, 'restartCount'),
        startedAt: textAt(container, 'state', 'running', 'startedAt'),
        tasks: stdout.split('\n').toSorted().join('\n'),
      };
    }

    /** Since when the Node is Ready without an interruption. */
    async function readySince(): Promise<string | undefined> {
      const found = await plane.asAdmin((client) => client.get(NODES, { name: NAME }));
      const conditions = valueAt(found, 'status', 'conditions') as readonly Condition[];
      const ready = conditionOf(conditions, 'Ready');
      return ready?.status === 'True' ? ready.lastTransitionTime : undefined;
    }

    /** When systemd started the kubelet, in milliseconds. */
    async function kubeletStarts(): Promise<readonly number[]> {
      // "A start job for unit … has finished successfully".
      const match = 'MESSAGE_ID=39f53479d3a045ac8e11786248231fbf';
      const args = ['--output=json', '--output-fields=UNIT', '_PID=1', 'UNIT=kubelet.service', match];
      const { stdout } = await node.run('journalctl', ...args);
      const entries = stdout.split('\n').filter(Boolean);
      return entries.map(
        (line) => Number((JSON.parse(line) as Record<string, string>)['__REALTIME_TIMESTAMP']) / 1000,
      );
    }

    it(
      'HOS-22 runs the kubelet of the example fleet and a pod before it begins',
      async () => {
        await plane.asAdmin((client) => client.create(PODS, podManifest(NAME)));
        await expect.poll(async () => (await podNow()).startedAt, ROTATED).toBeDefined();
        pod = await podNow();
        const kubeconfig = readFileSync(plane.kubeconfig, 'utf8');
        former = { kubeconfig, authority: fingerprint(plane.caFile) };
        expect(pod.restartCount).toBe(0);
        expect(await askKubelet(node.address, former.kubeconfig)).toBe(200);
        await kubectl('exec', POD.name, '--', '/bin/sleep', '0');
        starts = (await kubeletStarts()).length;
        expect(starts).toBeGreaterThan(0);
        since = await readySince();
        expect(since).toBeDefined();
        expect(await authorities()).toMatchObject({
          managed: true,
          issuer: former.authority,
          kubelet: 'Current',
        });
      },
      LIMIT,
    );

    it(
      'HOS-22 is prepared with one restart of the kubelet, and its pod runs on',
      async () => {
        stopFollowing = followKubelet(NAME, plane);
        ends.push(stopFollowing);
        await rotate('Prepare');
        await expect.poll(rotation, ROTATED).toMatchObject({ step: 'Prepared' });
        report('prepared');
        await expect.poll(rotation, ROTATED).toMatchObject({ step: 'Prepared', behind: [] });
        report('agent and kubelet have what the new authority issued');
        const next = fingerprint(plane.caFile);
        expect(next).not.toBe(former.authority);
        expect(await authorities()).toMatchObject({
          phase: 'IssueNew',
          issuer: next,
          trusted: [former.authority, next].toSorted(),
          kubelet: 'Current',
        });
        expect(await kubeletStarts()).toHaveLength(starts + 1);
        expect(await podNow()).toEqual(pod);
        await kubectl('exec', POD.name, '--', '/bin/sleep', '0');
        expect(await askKubelet(node.address, former.kubeconfig)).toBe(200);
      },
      LIMIT,
    );

    it(
      'HOS-22 is completed with one more restart of the kubelet, after the tokens of pods had an hour',
      async () => {
        await rotate('Complete');
        await expect.poll(rotation, ROTATED).toMatchObject({ step: 'Prepared', waiting: 'PodTokens' });
        await plane.hosting.kill();
        signedAnHourAgo(plane.root);
        await plane.hosting.start();
        await expect.poll(rotation, ROTATED).toMatchObject({ step: 'Completed' });
        report('completed');
      },
      LIMIT,
    );

    it(
      'HOS-22 leaves a Ready Node with a Lease that it renews, its pod as it was, and what the former authority issued refused',
      async () => {
        const completedAt = clock.now().getTime();
        const only = fingerprint(plane.caFile);
        const renewed = async (): Promise<number> => {
          const name = { name: NAME, namespace: 'kube-node-lease' };
          const lease = await plane.asAdmin((client) => client.get(LEASES, name));
          return Date.parse(textAt(lease, 'spec', 'renewTime') ?? '');
        };
        await expect.poll(renewed, ROTATED).toBeGreaterThan(completedAt);
        await expect
          .poll(authorities, ROTATED)
          .toMatchObject({ phase: 'TrustNew', issuer: only, trusted: [only], kubelet: 'Current' });
        const certificate = readFileSync(join(node.root, identityFiles(KUBELET_PKI).certificate), 'utf8');
        const authority = new X509Certificate(readFileSync(plane.caFile, 'utf8'));
        expect(isIssuedBy(new X509Certificate(certificate), authority)).toBe(true);
        expect(fingerprint(join(node.root, CLUSTER_CA_FILE))).toBe(only);

        await kubectl('logs', POD.name);
        await kubectl('exec', POD.name, '--', '/bin/sleep', '0');
        const path = `/api/v1/nodes/${NAME}/proxy/pods`;
        expect(await kubectl('get', '--raw', path)).toContain(pod.uid);
        expect(await askKubelet(node.address, readFileSync(plane.kubeconfig, 'utf8'))).toBe(200);
        expect(await askKubelet(node.address, former.kubeconfig)).toBe(401);
        expect(await podNow()).toEqual(pod);

        const observed = await stopFollowing();
        const restarts = (await kubeletStarts()).slice(starts);
        expect(restarts).toHaveLength(2);
        expect(observed.grants).toHaveLength(2);
        for (const [index, at] of restarts.entries()) {
          const grant = observed.grants[index];
          expect(Date.parse(grant?.issuedAt ?? '')).toBeLessThanOrEqual(at);
          expect(Date.parse(grant?.notAfter ?? '')).toBeGreaterThan(at);
        }
        expect(observed.problems).toEqual([]);
        expect(await readySince()).toBe(since);
        expect(observed.ready.filter((text) => !text.startsWith('True '))).toEqual([]);
      },
      LIMIT,
    );

    async function kubectl(...args: readonly string[]): Promise<string> {
      const run = promisify(execFile);
      return (await run(plane.kubectl, ['--kubeconfig', plane.kubeconfig, ...args])).stdout;
    }
  },
);

/** Returns what a command prints that uses this kubeconfig. */
async function printed(kubeconfig: string, args: readonly string[]): Promise<string> {
  const io = testIo({ env: { KUBECONFIG: kubeconfig } });
  expect([await runCommandLine(io, args), io.stdout.length > 0]).toEqual([0, true]);
  return io.stdout;
}

function fingerprint(file: string): string {
  return fingerprintOf(new X509Certificate(readFileSync(file, 'utf8')));
}

/** An hour cannot be waited for. Hosting compares it with the time at which it signed what it published. */
function signedAnHourAgo(root: string): void {
  const file = join(root, 'authorities.json');
  const signed = JSON.parse(readFileSync(file, 'utf8')) as { readonly signedAt: string };
  const signedAt = new Date(Date.parse(signed.signedAt) - HOUR_MS).toISOString();
  writeFileSync(file, `${JSON.stringify({ ...signed, signedAt })}\n`);
}

function report(text: string): void {
  process.stderr.write(`rotation with a real node: ${text} at ${clock.now().toISOString()}\n`);
}
