/** The command of etcd in its pod, with the real etcd: an etcd that has had data never begins without. */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readSpace } from '../../../../../../src/controllers/hosting/drivers/etcd/space.ts';
import { memberCommand } from '../../../../../../src/controllers/hosting/drivers/workload/objects/commands.ts';
import { podTemplate } from '../../../../../../src/controllers/hosting/drivers/workload/objects/pods.ts';
import { textAt } from '../../../../../../src/kube/objects/json.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import { type ProbeEndpoint, sendProbe } from '../../../../../../src/local/processes/probe.ts';
import { httpGet } from '../../../../../../src/os/net/http-get.ts';
import {
  isHealthy,
  type PodFolders,
  podFolders,
  type StartedEtcd,
  startPodEtcd,
} from '../../../../../support/hosting/pod-etcd.ts';
import { planeRecord, podParts } from '../../../../../support/hosting/workload.ts';

const READY = { interval: 100 };

function startEtcd(folders: PodFolders, isSealed: boolean): Promise<StartedEtcd> {
  const { args } = memberCommand('etcd', {
    ...podParts(),
    plane: { ...planeRecord(), isSealed },
  });
  return startPodEtcd(folders, args);
}

it('HOS-06 lets an etcd with data start again, and ends one whose volume was wiped, however often it is tried', async () => {
  const folders = await podFolders();
  const first = await startEtcd(folders, false);
  await expect.poll(() => isHealthy(first), READY).toBe(true);
  await first.stop();
  const second = await startEtcd(folders, true);
  await expect.poll(() => isHealthy(second), READY).toBe(true);
  await second.stop();
  rmSync(join(folders.volume, 'data'), { recursive: true });
  for (let time = 0; time < 2; time += 1) {
    const wiped = await startEtcd(folders, true);
    expect(await wiped.ended).toContain('cannot fetch cluster info from peer urls');
  }
});

it('HOS-33 keeps a pod of etcd ready and alive whose database is full, so that objects can be deleted', async () => {
  const folders = await podFolders();
  const record = planeRecord({ etcd: { replicas: 1, storageGiB: 8, quotaMiB: 64 } });
  const parts = { ...podParts(record), plane: record };
  const etcd = await startPodEtcd(folders, memberCommand('etcd', parts).args);
  await expect.poll(() => isHealthy(etcd), READY).toBe(true);
  const client = {
    url: etcd.url,
    caPem: readFileSync(join(folders.client, 'ca.crt'), 'utf8'),
    client: parsePair(readFileSync(join(folders.client, 'client.pem'), 'utf8')),
  };
  if (!client.client) throw new Error('the client of etcd has no certificate');
  const endpoint = { ...client, client: client.client };
  await fill(endpoint);
  expect(await readSpace([endpoint])).toMatchObject({ isFull: true });
  expect(await isHealthy(etcd)).toBe(false);
  const template = podTemplate('etcd', parts);
  for (const probe of ['readinessProbe', 'livenessProbe', 'startupProbe']) {
    const path = textAt(template, 'spec', 'containers', 0, probe, 'httpGet', 'path') ?? '';
    const url = new URL(path, etcd.healthUrl).href;
    expect((await httpGet(url, AbortSignal.timeout(5000))).status).toBe(200);
  }
  await etcd.stop();
});

async function fill(endpoint: ProbeEndpoint): Promise<void> {
  const value = Buffer.alloc(1_000_000, 'x').toString('base64');
  for (let index = 0; index < 200; index += 1) {
    const key = Buffer.from(`key-${index}`).toString('base64');
    const request = { method: 'POST', body: JSON.stringify({ key, value }), timeoutMs: 30_000 } as const;
    const { status } = await sendProbe({ ...endpoint, url: `${endpoint.url}/v3/kv/put` }, request);
    if (status !== 200) return;
  }
  throw new Error('etcd was never full');
}
