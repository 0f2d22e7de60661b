import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { diskPressure } from '../../../rules/disk-pressure.ts';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, NodeRemedierSpec } from '../../../src/api/generated/types.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { all, any, condition, disk } from '../../../src/constructs/index.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES, PODS } from '../../../src/kube/objects/core-kinds.ts';
import { listAt, textAt, valueAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';
import { WEB } from '../../cluster/controllers/budgeted-pod.ts';
import { criClient, noCriClientReason } from '../../support/node-kit/cri-client.ts';
import { IMAGE, importImageAs } from '../../support/node-kit/image.ts';
import { type TestNode, whyNoNodes } from '../../support/node-kit.ts';
import { testIo } from '../../support/test-io.ts';
import { webPodOf } from '../rollout/workload.ts';
import { REPAIRED_COMMIT, type RepairedNode, startRepairedNode } from './repaired-node.ts';

const reason = whyNoNodes() ?? (await noCriClientReason());
if (reason) process.stderr.write(`skipped: ${reason}\n`);

const NAME = 'n1';
const SELDOM = { interval: 500 };
const LOGS = '/var/log/web';
/** Without a word of what could not be deleted. */
const DELETED: unknown = expect.stringMatching(/^deleted \d+ files, containers and images, \d+ bytes$/);
const UNUSED = ['localhost/web:old', 'localhost/web:older'];
/** No container uses it either: the one of every pod. */
const PAUSE = 'localhost/pause:1';
/** One small file system for what the runtime keeps and for logs, as on a node with one disk. */
const SMALL_DISK = `set -e
mkdir -p /disk
mount -t tmpfs -o size=256M tmpfs /disk
mkdir /disk/containerd /disk/log
systemctl stop containerd
mount --bind /disk/containerd /var/lib/containerd
mount --bind /disk/log /var/log
systemctl start containerd
`;
/** Rotated logs, the newest first, until the disk is 90 % full; and logs that must stay. */
const FILL = `set -e
cd ${LOGS}
for each in current.log young.log.1 held.log.1; do head -c 1M /dev/zero > $each; done
touch -d '2 days ago' current.log held.log.1
for number in $(seq 1 99); do
  [ "$(df --output=pcent . | tail -n 1 | tr -dc 0-9)" -lt 90 ] || exit 0
  head -c 8M /dev/zero > web.log.$number
  touch -d "$number hours ago" web.log.$number
done
exit 1
`;

describe.skipIf(reason)(`the disk of a real node${reason ? ` (${reason})` : ''}`, () => {
  let repaired: RepairedNode;
  let client: Client;
  let node: TestNode;

  beforeAll(async () => {
    const program = await criClient();
    const prepare = async (prepared: TestNode): Promise<void> => {
      await prepared.run('sh', '-c', SMALL_DISK);
      await copyFile(program, join(prepared.root, 'usr/local/bin/crictl'));
    };
    repaired = await startRepairedNode({ name: NAME, pool: 'general', prepare });
    ({ client, node } = repaired);
    await runEndedPod();
    for (const image of UNUSED) await importImageAs(node, image, 8 * 1024 ** 2);
    await importImageAs(node, PAUSE, 0);
    await node.run('mkdir', LOGS);
  });
  afterAll(() => repaired?.[Symbol.asyncDispose]());

  async function usedPercent(): Promise<number> {
    return Number(/\d+/.exec((await node.run('df', '--output=pcent', '/disk')).stdout)?.[0]);
  }

  async function reported(): Promise<number | undefined> {
    const { status } = await client.get<Machine>(MACHINES, { name: NAME });
    return status?.facts?.disk?.find(({ filesystem }) => filesystem === 'imagefs')?.usedPercent;
  }

  async function logs(): Promise<readonly string[]> {
    return (await node.run('ls', '-v', LOGS)).stdout.trim().split('\n');
  }

  async function images(): Promise<readonly unknown[]> {
    const listed = await crictl<{ images: readonly { repoTags: readonly string[] }[] }>('images');
    return listed.images.flatMap(({ repoTags }) => repoTags).toSorted();
  }

  async function containerStates(): Promise<readonly string[]> {
    const { containers } = await crictl<{ containers: readonly { state: string }[] }>('ps', '--all');
    return containers.map(({ state }) => state).toSorted();
  }

  async function crictl<T>(...words: readonly string[]): Promise<T> {
    return JSON.parse((await node.run('crictl', ...words, '--output', 'json')).stdout) as T;
  }

  async function webPod(): Promise<KubeObject> {
    return await client.get(PODS, { name: webPodOf(NAME), namespace: WEB.namespace });
  }

  /** Its container stays until somebody removes it. */
  async function runEndedPod(): Promise<void> {
    const name = { name: 'ended', namespace: WEB.namespace };
    const container = { name: 'main', image: IMAGE, imagePullPolicy: 'Never', command: ['/bin/sleep', '0'] };
    const spec = {
      nodeName: NAME,
      restartPolicy: 'Never',
      automountServiceAccountToken: false,
      containers: [container],
    };
    await client.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata: name, spec });
    await repaired.until(
      'the pod did not end',
      async () => textAt(await client.get(PODS, name), 'status', 'phase') === 'Succeeded',
    );
  }

  /** Each different cordon and taints of the Node from then until now. */
  async function schedulingSince({ metadata }: KubeObject): Promise<readonly string[]> {
    const { resourceVersion = '' } = metadata;
    const last = await client.get(NODES, { name: NAME });
    const found = new Set<string>();
    for await (const { object } of client.watch(NODES, { resourceVersion, timeoutSeconds: 60 })) {
      found.add(schedulingOf(object));
      if (object.metadata.resourceVersion === last.metadata.resourceVersion) break;
    }
    return [...found];
  }

  it('R38 is cleaned in place when it is full, without a word to its pods', async () => {
    expect(await images()).toEqual([PAUSE, IMAGE, ...UNUSED].toSorted());
    expect(await containerStates()).toEqual(['CONTAINER_EXITED', 'CONTAINER_RUNNING']);
    await expect.poll(async () => (await reported()) === (await usedPercent()), SELDOM).toBe(true);
    const [boot, pod] = [await node.bootId(), await webPod()];
    const nodeBefore = await client.get(NODES, { name: NAME });
    await repaired.applyRule('disk-pressure', quickDiskPressure());
    await node.run('sh', '-c', FILL);
    await node.run('systemd-run', '--unit=holder', 'sh', '-c', `exec sleep infinity < ${LOGS}/held.log.1`);
    const before = await logs();

    await repaired.until('the job has not ended', async () => (await repaired.ended()).length > 0);
    expect(await repaired.ended()).toEqual(['disk-pressure clean Succeeded']);
    const [job] = await repaired.jobs();
    expect(job?.status?.steps).toMatchObject([{ id: 's1', state: 'Succeeded', message: DELETED }]);
    expect(await images()).toEqual([PAUSE, IMAGE].toSorted());
    expect(await containerStates()).toEqual(['CONTAINER_RUNNING']);
    // As far as the rule wants it: the oldest logs first, and not more of them than it takes.
    const after = await logs();
    const deleted = before.filter((name) => !after.includes(name));
    expect(deleted).toEqual(before.filter((name) => name.startsWith('web.log.')).slice(-deleted.length));
    expect(after).toEqual(expect.arrayContaining(['current.log', 'young.log.1', 'held.log.1', 'web.log.1']));
    expect(await usedPercent()).toBeLessThanOrEqual(70);
    expect(await usedPercent()).toBeGreaterThan(65);

    expect(await node.bootId()).toBe(boot);
    const now = await webPod();
    expect(now.metadata.uid).toBe(pod.metadata.uid);
    expect(containersOf(now)).toEqual(containersOf(pod));
    expect(await schedulingSince(nodeBefore)).toEqual([schedulingOf(nodeBefore)]);

    expect(job?.spec).toMatchObject({ risk: 'None', plan: [{ step: 'CleanDisk@v1' }] });
    await expect.poll(() => repaired.openGrants(), SELDOM).toEqual([]);
    const io = testIo({ env: { KUBECONFIG: repaired.cluster.installed.server.kubeconfig } });
    expect(await runCommandLine(io, ['why', 'job', job?.metadata.name ?? ''])).toBe(0);
    expect(io.stdout).toContain(REPAIRED_COMMIT);
    expect(io.stdout).toContain('CleanDisk');
  });
});

function schedulingOf(node: KubeObject): string {
  return JSON.stringify([valueAt(node, 'spec', 'unschedulable'), listAt(node, 'spec', 'taints')]);
}

/** A container that was started again has another id. */
function containersOf(pod: KubeObject): readonly (string | undefined)[] {
  return listAt(pod, 'status', 'containerStatuses').map((each) => textAt(each, 'containerID'));
}

/** The rule that ships, with times for a test, on a cluster of one node. */
function quickDiskPressure(): NodeRemedierSpec {
  const [clean, ...others] = diskPressure.ladder;
  if (!clean) throw new Error('the rule has no rung');
  const imagefs = disk('imagefs');
  const conditions = any(
    condition('DiskPressure').is('True', { for: '60s' }),
    all(imagefs.usedPercent.atLeast(80), imagefs.risingSeconds.atLeast(3)),
  );
  return {
    ...diskPressure,
    target: { ...diskPressure.target, maxMatchPercent: 100 },
    rule: { ...diskPressure.rule, conditions },
    ladder: [{ ...clean, verify: { ...clean.verify, holdSeconds: 10 } }, ...others],
  } as NodeRemedierSpec;
}
