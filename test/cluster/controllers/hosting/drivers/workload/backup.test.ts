/** What the containers of the Jobs for backups run, with the real etcd: taken, tested, and restored into another control plane with other keys. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runCommandLine } from '../../../../../../src/cli/run.ts';
import { parseBackupList } from '../../../../../../src/controllers/hosting/drivers/etcd/backup/list.ts';
import { parseDrillCheck } from '../../../../../../src/controllers/hosting/drivers/etcd/drill/check.ts';
import { readKeyState } from '../../../../../../src/controllers/hosting/drivers/etcd/json-gateway.ts';
import { readMemberList } from '../../../../../../src/controllers/hosting/drivers/etcd/member-list.ts';
import {
  backupJob,
  drillJob,
  restoreJob,
} from '../../../../../../src/controllers/hosting/drivers/workload/backup/job.ts';
import { memberCommand } from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { listAt, textAt } from '../../../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../../../src/kube/objects/object.ts';
import { optional } from '../../../../../../src/kube/objects/optional.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import { type ProbeEndpoint, sendProbe } from '../../../../../../src/local/processes/probe.ts';
import {
  isHealthy,
  type PodFolders,
  podFolders,
  type StartedEtcd,
  startPodEtcd,
  startPodServer,
} from '../../../../../support/hosting/pod-etcd.ts';
import { planeRecord, podParts } from '../../../../../support/hosting/workload.ts';
import { tempFolder } from '../../../../../support/temp.ts';
import { testIo } from '../../../../../support/test-io.ts';

const READY = { interval: 100 };
const PARTS = {
  cluster: 'ci',
  member: 'etcd',
  address: '10.0.0.2',
  takenAt: new Date(0),
  images: { etcd: 'etcd', kubenode: 'kubenode' },
  versions: { etcd: 'v3.6.8', kubernetes: 'v1.36.3' },
  priorityClass: 'system-cluster-critical',
  claim: 'claim-uid',
} as const;
const SERVER = { image: 'kube-apiserver', flags: {}, serviceCIDR: '10.96.0.0/16' } as const;
const PEER_URL = 'https://10.0.0.9:2380';

function argsOf(job: KubeObject, name: string): readonly string[] {
  const pod = ['spec', 'template', 'spec'] as const;
  const all = [...listAt(job, ...pod, 'initContainers'), ...listAt(job, ...pod, 'containers')];
  return listAt(
    all.find((each) => textAt(each, 'name') === name),
    'args',
  ).map(String);
}

interface Ran {
  readonly text: string;
  readonly report: string;
}

/** Runs a container of kubenode with the folders of this machine. */
async function runOwn(
  job: KubeObject,
  name: string,
  folders: PodFolders,
  { url = '', serverUrl = '' }: { readonly url?: string; readonly serverUrl?: string } = {},
): Promise<Ran> {
  const report = join(tempFolder('report'), 'message');
  const args = argsOf(job, name).map((arg) =>
    arg
      .replace(/^--url=.*/, `--url=${url}`)
      .replace(/^--serve-url=.*/, `--serve-url=${serverUrl}`)
      .replace('/var/lib/drill', folders.drill)
      .replace('/dev/termination-log', report)
      .replace('/etc/kubernetes/etcd', folders.client)
      .replace('/var/lib/etcd', folders.volume)
      .replace('/var/lib/snapshots', folders.snapshots),
  );
  const io = testIo();
  const code = await runCommandLine(io, args);
  const text = `${code} ${io.stdout}${io.stderr}`;
  return { text, report: existsSync(report) ? readFileSync(report, 'utf8') : '' };
}

function endpointOf({ client: folder }: PodFolders, { url }: StartedEtcd): ProbeEndpoint {
  const text = (name: string): string => readFileSync(join(folder, name), 'utf8');
  const client = parsePair(text('client.pem'));
  if (!client) throw new Error('there is no certificate');
  return { url, caPem: text('ca.crt'), client };
}

async function put(endpoint: ProbeEndpoint, key: string, value = 'x'): Promise<void> {
  const [coded, text] = [key, value].map((each) => Buffer.from(each).toString('base64'));
  const body = JSON.stringify({ key: coded, value: text });
  const request = { ...endpoint, url: `${endpoint.url}/v3/kv/put` };
  expect((await sendProbe(request, { method: 'POST', body })).status).toBe(200);
}

function objectText(kind: string, name: string): string {
  return JSON.stringify({ apiVersion: 'v1', kind, metadata: { name, uid: `uid-of-${name}` } });
}

async function startEtcd(folders: PodFolders, isSealed: boolean): Promise<StartedEtcd> {
  const plane = { ...planeRecord(), isSealed };
  const etcd = await startPodEtcd(folders, memberCommand('etcd', { ...podParts(), plane }).args);
  await expect.poll(() => isHealthy(etcd), READY).toBe(true);
  return etcd;
}

/** Runs a Job: a container, the etcd on the copy, and the last container. */
async function runJob(job: KubeObject, folders: PodFolders, url = ''): Promise<Ran> {
  const [first = '', last = ''] = listNames(job);
  const began = await runOwn(job, first, folders, { url });
  if (!began.text.startsWith('0 ')) return began;
  const opened = await startPodEtcd(folders, argsOf(job, 'etcd'));
  const serving = argsOf(job, 'kube-apiserver');
  const server = serving.length > 0 ? await startPodServer(folders, serving, opened.url) : undefined;
  const ended = await runOwn(job, last, folders, { url: opened.url, ...optional('serverUrl', server?.url) });
  await server?.stop();
  await opened.stop();
  return ended;
}

function listNames(job: KubeObject): readonly string[] {
  const pod = ['spec', 'template', 'spec'] as const;
  return [listAt(job, ...pod, 'initContainers')[0], listAt(job, ...pod, 'containers')[0]].map(
    (each) => textAt(each, 'name') ?? '',
  );
}

async function withBackup(): Promise<{ folders: PodFolders; etcd: StartedEtcd }> {
  const folders = await podFolders();
  const etcd = await startEtcd(folders, false);
  const endpoint = endpointOf(folders, etcd);
  for (let index = 0; index < 4; index += 1) {
    await put(endpoint, `/ci/configmaps/default/key-${index}`, objectText('ConfigMap', `key-${index}`));
  }
  await put(endpoint, '/ci/namespaces/kube-system', objectText('Namespace', 'kube-system'));
  expect((await runJob(backupJob(PARTS, { keep: 2 }), folders, etcd.url)).text).toMatch(/^0 1 backups/);
  return { folders, etcd };
}

describe('the containers of the Jobs for backups', () => {
  it('HOS-32 take backups in their order, keep the newest of them, and report them', async () => {
    const { folders, etcd } = await withBackup();
    await runJob(backupJob(PARTS, { keep: 2 }), folders, etcd.url);
    const asked = backupJob(PARTS, { keep: 2, request: 'by hand' });
    const list = parseBackupList((await runJob(asked, folders, etcd.url)).report);
    expect(list?.request).toBe('by hand');
    expect(list?.names.map((name) => name.slice(0, 6))).toEqual(['000002', '000003']);
    expect(readdirSync(folders.snapshots).toSorted()).toEqual(list?.names);
    expect(await isHealthy(etcd)).toBe(true);
  });

  it('HOS-32 open the newest backup for a test, read all of it through an API server, and leave nothing', async () => {
    const { folders } = await withBackup();
    const before = readdirSync(folders.snapshots);
    const drilled = await runJob(drillJob(PARTS, SERVER), folders);
    expect(drilled.text).toMatch(/^0 an API server read all 5 objects of 2 resources from 000001-/);
    expect(parseDrillCheck(drilled.report)).toMatchObject({ objects: 5, clusterUid: 'uid-of-kube-system' });
    expect(readdirSync(folders.snapshots)).toEqual(before);
    const [name = ''] = before;
    writeFileSync(join(folders.snapshots, name, 'data', 'member', 'snap', 'db'), 'damaged');
    expect((await runJob(drillJob(PARTS, SERVER), folders)).text).toMatch(
      /its files are not those that were written/,
    );
  });

  it('HOS-32 fail the test of a backup with a value that the API server cannot read, and name the object', async () => {
    const { folders, etcd } = await withBackup();
    await put(endpointOf(folders, etcd), '/ci/podtemplates/default/cut', 'k8s\0cut');
    await runJob(backupJob(PARTS, { keep: 2 }), folders, etcd.url);
    const drilled = await runJob(drillJob(PARTS, SERVER), folders);
    expect(drilled.text).toMatch(/^[1-9].*the API server cannot read podtemplates default\/cut: /s);
    expect(drilled.report).toBe('');
  });

  it('HOS-32 restore every key into the volume of another control plane, whose first member has its new address', async () => {
    const { folders, etcd } = await withBackup();
    await put(endpointOf(folders, etcd), '/ci/later');
    await etcd.stop();
    const fresh = { ...(await podFolders()), snapshots: folders.snapshots };
    const restored = await runJob(restoreJob(PARTS, { from: 'latest', peerUrl: PEER_URL }), fresh);
    expect(restored.text).toMatch(/^0 etcd starts from 000001-/);
    expect(restored.report).toMatch(/^000001-\d{8}T\d{6}Z$/);
    expect(readdirSync(fresh.volume)).toEqual(['data']);
    // The Job is repeated where its pod was deleted after that, and finds the data in their place.
    expect(await runJob(restoreJob(PARTS, { from: 'latest', peerUrl: PEER_URL }), fresh)).toEqual(restored);
    expect(readdirSync(fresh.volume)).toEqual(['data']);
    const next = await startEtcd(fresh, true);
    const endpoint = endpointOf(fresh, next);
    expect((await readKeyState(endpoint)).keys).toBe(5);
    expect((await readMemberList(endpoint)).map(({ peerURLs }) => peerURLs)).toEqual([[PEER_URL]]);
    await put(endpoint, '/ci/next');
    await next.stop();
    // Its data is whole after another start, too.
    const again = await startEtcd(fresh, true);
    expect((await readKeyState(endpointOf(fresh, again))).keys).toBe(6);
    await again.stop();
    // Another backup does not replace it.
    await runJob(backupJob(PARTS, { keep: 2 }), folders, (await startEtcd(folders, true)).url);
    const refused = await runJob(restoreJob(PARTS, { from: 'latest', peerUrl: PEER_URL }), fresh);
    expect(refused.text).toMatch(/etcd has the data of backup 000001-.* already/);
  });

  it('HOS-32 restore neither a backup that is missing, nor one of another Cluster or version', async () => {
    const { folders } = await withBackup();
    const fresh = { ...(await podFolders()), snapshots: folders.snapshots };
    mkdirSync(join(fresh.volume, 'restore'), { recursive: true });
    const run = async (parts: object, from = 'latest'): Promise<string> =>
      (await runJob(restoreJob({ ...PARTS, ...parts }, { from, peerUrl: PEER_URL }), fresh)).text;
    expect(await run({}, '000009-20300101T000000Z')).toMatch(/^[1-9].*Cluster ci has no backup 000009/s);
    expect(await run({ cluster: 'other' })).toMatch(/it is of Cluster ci/);
    const older = { etcd: 'v3.6.8', kubernetes: 'v1.30.0' };
    expect(await run({ versions: older })).toMatch(/v1.30.0 cannot start from it/);
  });
});
