/**
 * Checks that an API server on the copy of a backup can read all of it: it reads every object of every resource as it was when the backup was taken,
 * and finds as many as etcd has keys. Nothing acts on what it reads.
 */
import { listAt, textAt } from '../../../../../kube/objects/json.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { withDeadline } from '../../../../../os/deadline.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import { countKeys, keyAt } from '../json-gateway.ts';
import type { SnapshotRecord } from '../snapshot.ts';
import type { DrillCheck } from './check.ts';
import { askApi, type DrillApi, readList, readObjects } from './read-objects.ts';
import { builtInResources, CRD_PATH, customResources, type ListedResource } from './resources.ts';

export interface CheckedBackup {
  readonly name: string;
  readonly record: SnapshotRecord;
  /** The etcd on the copy, as its clients reach it. */
  readonly etcd: ProbeEndpoint;
  /** The API server on that etcd, as its administrator reaches it. */
  readonly api: DrillApi;
  readonly clock: Clock;
}

/** An image may be pulled first. */
const START_MS = 300_000;
/** A machine that is busy needs that long for the caches of an API server. */
const READY_MS = 60_000;
/** The handler of a definition follows the API server by some seconds. */
const SERVED_MS = 30_000;
/** A drill reads a database of 8 GiB in some minutes. In a pod it has to end before its Job does, so that the result tells why. */
const TOTAL_MS = 1_200_000;
const POLL_MS = 200;
/** Answers as soon as the API server serves, whatever it has read. */
export const ALIVE = '/livez/ping';
const KUBE_SYSTEM = '/api/v1/namespaces?fieldSelector=metadata.name%3Dkube-system';
/** Answers with everything that is served, in one document. */
const DISCOVERY = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
/** The domain of our own kinds. */
const OURS = '.kubenode.dev';

/** Waits for an API server that another program starts. Rejects where it does not answer in time. */
export async function waitUntilAlive(api: DrillApi, clock: Clock): Promise<void> {
  const answers = async (): Promise<boolean> => (await askApi(api, ALIVE)).status === 200;
  if (await pollUntil(() => answers().catch(() => false), until(clock, START_MS, api.signal))) return;
  throw new Error('the API server does not start from the copy');
}

/** Rejects with the object that cannot be read, or with what else the API server does not do. One that answers too slowly is not waited for. */
export async function checkData(backup: CheckedBackup): Promise<DrillCheck> {
  const { api, clock } = backup;
  const { signal = new AbortController().signal } = api;
  const expired = (): Error =>
    new Error(`the API server has not answered with everything in ${TOTAL_MS / 60_000} minutes`);
  return await withDeadline({ clock, ms: TOTAL_MS, signal, expired }, (ended) =>
    readBackup({ ...backup, api: { ...api, signal: ended } }),
  );
}

async function readBackup(backup: CheckedBackup): Promise<DrillCheck> {
  const { api, clock } = backup;
  const signal = api.signal;
  const isReady = async (): Promise<boolean> => (await askApi(api, '/readyz')).status === 200;
  // One that cannot read a value may never be ready, and the value is found all the same.
  const serves = await pollUntil(() => isReady().catch(() => false), until(clock, READY_MS, signal));
  const counts = await readAll(backup);
  if (!serves) throw new Error(`the API server is not ready: ${await notReadyText(api)}`);
  return summarize(backup.name, counts, await readClusterUid(backup));
}

function until(clock: Clock, milliseconds: number, signal: AbortSignal | undefined): PollUntil {
  return { clock, everyMs: POLL_MS, deadlineMs: clock.monotonicMs() + milliseconds, signal };
}

type PollUntil = Parameters<typeof pollUntil>[1];

interface ResourceCount {
  readonly name: string;
  readonly count: number;
}

/** Definitions come first: without them nothing is known of custom resources. */
async function readAll(backup: CheckedBackup): Promise<readonly ResourceCount[]> {
  const { api } = backup;
  const definitions = { name: 'customresourcedefinitions', path: CRD_PATH, keys: CRD_KEYS };
  const counts = [await readResource(backup, definitions)];
  const custom = customResources(listAt(await readList(api, CRD_PATH), 'items'));
  const discoveries = [await readList(api, '/api', DISCOVERY), await readList(api, '/apis', DISCOVERY)];
  for (const resource of [...builtInResources(discoveries, custom.groups), ...custom.resources]) {
    if (resource.keys !== CRD_KEYS) counts.push(await readResource(backup, resource));
  }
  return counts;
}

const CRD_KEYS = 'apiextensions.k8s.io/customresourcedefinitions/';

async function readResource(backup: CheckedBackup, resource: ListedResource): Promise<ResourceCount> {
  const { etcd, api, record } = backup;
  const { name, path, keys } = resource;
  const range = { prefix: `/${record.cluster ?? ''}/${keys}`, revision: record.revision };
  const expected = await countKeys(etcd, range);
  if (expected === 0) return { name, count: 0 };
  if (resource.isCustom) await requireServed(backup, resource);
  const found = await readObjects(api, { path, revision: record.revision });
  if ('problem' in found) {
    const key = (await keyAt(etcd, range, found.brokenAt)) ?? range.prefix;
    const object = key.slice(range.prefix.length);
    throw new Error(`the API server cannot read ${name} ${object}: ${found.problem}`);
  }
  if (found.count === expected) return { name, count: expected };
  throw new Error(`etcd has ${expected} ${name}, and the API server reads ${found.count}`);
}

async function requireServed({ api, clock }: CheckedBackup, { name, path }: ListedResource): Promise<void> {
  const isServed = async (): Promise<boolean> => (await askApi(api, `${path}?limit=1`)).status !== 404;
  if (await pollUntil(isServed, until(clock, SERVED_MS, api.signal))) return;
  throw new Error(`etcd has ${name}, and the API server does not serve them`);
}

/** The API server makes the namespace at once where it is missing, so it is read as it was. Undefined: it was not there. */
async function readClusterUid({ api, record }: CheckedBackup): Promise<string | undefined> {
  const list = await readList(
    api,
    `${KUBE_SYSTEM}&resourceVersion=${record.revision}&resourceVersionMatch=Exact`,
  );
  return textAt(list, 'items', 0, 'metadata', 'uid');
}

/** Returns the checks that fail, which the API server lists with a minus. */
async function notReadyText(api: DrillApi): Promise<string> {
  const { body } = await askApi(api, '/readyz?verbose');
  const failed = body.split('\n').filter((line) => line.startsWith('[-]'));
  return failed.join(', ').slice(0, 300) || body.slice(0, 300);
}

function summarize(
  backup: string,
  counts: readonly ResourceCount[],
  clusterUid: string | undefined,
): DrillCheck {
  const filled = counts.filter(({ count }) => count > 0);
  const sum = (of: readonly ResourceCount[]): number => of.reduce((total, { count }) => total + count, 0);
  return {
    backup,
    ...optional('clusterUid', clusterUid),
    objects: sum(filled),
    resources: filled.length,
    namespaces: sum(filled.filter(({ name }) => name === 'namespaces')),
    ours: sum(filled.filter(({ name }) => name.endsWith(OURS))),
  };
}
