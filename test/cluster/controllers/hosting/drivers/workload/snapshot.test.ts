/** What the containers of the Job that takes a snapshot run, with the real etcd: the commands of kubenode, and the etcd between them. */
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../../../../src/cli/run.ts';
import {
  readSnapshot,
  snapshotData,
} from '../../../../../../src/controllers/hosting/drivers/etcd/snapshot.ts';
import { memberCommand } from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { snapshotJob } from '../../../../../../src/controllers/hosting/drivers/workload/snapshot/job.ts';
import { listAt, textAt } from '../../../../../../src/kube/objects/json.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import { sendProbe } from '../../../../../../src/local/processes/probe.ts';
import {
  isHealthy,
  type PodFolders,
  podFolders,
  type StartedEtcd,
  startPodEtcd,
} from '../../../../../support/hosting/pod-etcd.ts';
import { planeRecord, podParts } from '../../../../../support/hosting/workload.ts';
import { testIo } from '../../../../../support/test-io.ts';

const READY = { interval: 100 };
const JOB = snapshotJob({
  cluster: 'ci',
  member: 'etcd',
  address: '10.0.0.2',
  takenAt: new Date(0),
  images: { etcd: 'etcd', kubenode: 'kubenode' },
  versions: { etcd: 'v3.6.8', kubernetes: 'v1.36.3' },
  priorityClass: 'system-cluster-critical',
});

function argsOf(name: string): readonly string[] {
  const pod = ['spec', 'template', 'spec'] as const;
  const all = [...listAt(JOB, ...pod, 'initContainers'), ...listAt(JOB, ...pod, 'containers')];
  return listAt(
    all.find((each) => textAt(each, 'name') === name),
    'args',
  ).map(String);
}

/** Runs a container of kubenode with the folders of this machine. Resolves to its exit code and what it printed. */
async function runOwn(name: string, folders: PodFolders, url: string): Promise<string> {
  const args = argsOf(name).map((arg) =>
    arg
      .replace(/^--url=.*/, `--url=${url}`)
      .replace('/etc/kubernetes/etcd', folders.client)
      .replace('/var/lib/etcd', folders.volume)
      .replace('/var/lib/snapshots', folders.snapshots),
  );
  const io = testIo();
  const code = await runCommandLine(io, args);
  return `${code} ${io.stdout}${io.stderr}`;
}

async function put(folders: PodFolders, url: string, key: string): Promise<void> {
  const text = (name: string): string => readFileSync(join(folders.client, name), 'utf8');
  const client = parsePair(text('client.pem'));
  if (!client) throw new Error('there is no certificate');
  const body = JSON.stringify({ key: Buffer.from(key).toString('base64'), value: 'eA==' });
  const endpoint = { url: `${url}/v3/kv/put`, caPem: text('ca.crt'), client };
  expect((await sendProbe(endpoint, { method: 'POST', body })).status).toBe(200);
}

async function servingEtcd(folders: PodFolders): Promise<StartedEtcd> {
  const { args } = memberCommand('etcd', {
    ...podParts(),
    plane: { ...planeRecord(), isSealed: false },
  });
  const etcd = await startPodEtcd(folders, args);
  await expect.poll(() => isHealthy(etcd), READY).toBe(true);
  for (let index = 0; index < 5; index += 1) await put(folders, etcd.url, `key-${index}`);
  return etcd;
}

describe('the containers that take a snapshot', () => {
  it('HOS-31 copy an etcd that serves, open the copy, count its keys, and keep the verified one only', async () => {
    const folders = await podFolders();
    const etcd = await servingEtcd(folders);
    expect(await runOwn('copy', folders, etcd.url)).toMatch(/^0 copied 5 keys at revision \d+/);
    expect(await readSnapshot(join(folders.snapshots, 'upgrade'))).toBeUndefined();
    // What is written later is not part of it.
    await put(folders, etcd.url, 'later');
    const opened = await startPodEtcd(folders, argsOf('etcd'));
    expect(await runOwn('verify', folders, opened.url)).toMatch(/^0 the snapshot was opened and has 5 keys/);
    expect(await readSnapshot(join(folders.snapshots, 'upgrade'))).toMatchObject({
      cluster: 'ci',
      etcdVersion: 'v3.6.8',
      kubernetesVersion: 'v1.36.3',
      keys: 5,
    });
    await opened.stop();
    expect(readdirSync(folders.snapshots)).toEqual(['upgrade']);
    expect(await isHealthy(etcd)).toBe(true);
  });

  it('HOS-31 leave the snapshot before in its place when the next one does not open, or has fewer keys', async () => {
    const folders = await podFolders();
    const etcd = await servingEtcd(folders);
    await runOwn('copy', folders, etcd.url);
    const opened = await startPodEtcd(folders, argsOf('etcd'));
    await runOwn('verify', folders, opened.url);
    await opened.stop();
    const before = await readSnapshot(join(folders.snapshots, 'upgrade'));
    expect(before).toBeDefined();

    await runOwn('copy', folders, etcd.url);
    const next = join(folders.snapshots, 'next');
    writeFileSync(join(folders.snapshots, 'check', 'member', 'snap', 'db'), 'not a database');
    const corrupt = await startPodEtcd(folders, argsOf('etcd'));
    expect(await corrupt.ended).toMatch(/panic|fatal|invalid/);

    await runOwn('copy', folders, etcd.url);
    const record = JSON.parse(readFileSync(join(next, 'snapshot.json'), 'utf8')) as { keys: number };
    writeFileSync(join(next, 'snapshot.json'), JSON.stringify({ ...record, keys: record.keys + 1 }));
    const fewer = await startPodEtcd(folders, argsOf('etcd'));
    expect(await runOwn('verify', folders, fewer.url)).toMatch(/^[1-9]\d* .*expected 6 keys .*found 5/s);
    expect(await readSnapshot(join(folders.snapshots, 'upgrade'))).toEqual(before);
    expect(existsSync(join(snapshotData(join(folders.snapshots, 'upgrade')), 'member', 'wal'))).toBe(true);
  });

  it('HOS-31 fail without an etcd that answers, and copy nothing', async () => {
    const folders = await podFolders();
    const etcd = await servingEtcd(folders);
    await etcd.stop();
    expect(await runOwn('copy', folders, etcd.url)).toMatch(/^[1-9]\d* .*no valid snapshot of etcd/s);
    expect(await runOwn('verify', folders, etcd.url)).toMatch(/no copy of etcd is complete/);
  });
});
