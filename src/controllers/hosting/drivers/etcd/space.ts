/** Asks an etcd for the size of its database, and makes it smaller. */
import { z } from 'zod';
import type { ProbeEndpoint } from '../../../../local/processes/probe.ts';
import { messageOf, OsError } from '../../../../os/errors.ts';
import { HostingError } from '../../errors.ts';
import type { EtcdSpace } from '../driver.ts';
import { anyAnswer, askEtcd, etcdInteger } from './ask.ts';
import { readKeyState } from './json-gateway.ts';

const statusAnswer = z.object({
  dbSize: etcdInteger.optional(),
  dbSizeInUse: etcdInteger.optional(),
});
const alarmAnswer = z.object({
  alarms: z.array(z.object({ memberID: z.string().default('0'), alarm: z.string().optional() })).default([]),
});

const ALARMS = '/v3/maintenance/alarm';
const ALARM = 'NOSPACE';
/** Less than the quota, so that the next write does not fill it again. */
const ROOM = 0.9;
/** The time for a database of 8 GiB, which is written to another file. */
const DEFRAGMENT_MS = 120_000;

/** Tells the size of the database: of several members the largest. */
export type EtcdSizes = Omit<EtcdSpace, 'attempt' | 'quotaBytes'>;

/** A member that cannot be asked now has no endpoint. */
type Endpoints = readonly (ProbeEndpoint | undefined)[];

/** Asks every member that can be asked. Undefined: none answers. */
export async function readSpace(endpoints: Endpoints): Promise<EtcdSizes | undefined> {
  const known = endpoints.filter((each) => each !== undefined);
  const answers = await Promise.all(known.map((each) => readSizes(each).catch(() => undefined)));
  const found = answers.filter((sizes) => sizes !== undefined);
  return found.length === 0 ? undefined : largestOf(found);
}

/**
 * Defragments one member after the other, each only while all of them answer. Every step can be repeated. The alarms end only when every
 * member has room: otherwise the next write would raise one again.
 */
export async function shrink(members: Endpoints, quotaBytes: number): Promise<EtcdSizes> {
  const endpoints = members.filter((each) => each !== undefined);
  if (endpoints.length < members.length) throw new Error('not every member answers');
  const [first] = endpoints;
  const { isFull } = await readAll(endpoints);
  if (isFull && first) await compact(first);
  for (const endpoint of endpoints) {
    await readAll(endpoints);
    const limits = { shape: anyAnswer, timeoutMs: DEFRAGMENT_MS };
    await askEtcd(endpoint, '/v3/maintenance/defragment', limits);
  }
  const after = await readAll(endpoints);
  if (!after.isFull || after.dbBytes > ROOM * quotaBytes || !first) return after;
  await endAlarms(first);
  return await readAll(endpoints);
}

/** Rejects when the database is still full, with what a person can do. */
export async function shrinkOrReject(where: string, work: () => Promise<EtcdSizes>): Promise<void> {
  try {
    const { isFull, dbBytes } = await work();
    if (isFull) throw new Error(`${Math.ceil(dbBytes / 1e6)} MB are in use`);
  } catch (error) {
    if (error instanceof OsError) throw error;
    throw new HostingError('EtcdFull', `the database of etcd was not made smaller: ${messageOf(error)}`, {
      where,
      hint: 'delete objects of the cluster, such as Events: deletions are accepted',
      cause: error,
    });
  }
}

/** Rejects unless every member answers. */
async function readAll(endpoints: readonly ProbeEndpoint[]): Promise<EtcdSizes> {
  return largestOf(await Promise.all(endpoints.map(readSizes)));
}

async function readSizes(endpoint: ProbeEndpoint): Promise<EtcdSizes> {
  const { dbSize = 0, dbSizeInUse = 0 } = await askEtcd(endpoint, '/v3/maintenance/status', {
    shape: statusAnswer,
  });
  const alarms = await readAlarms(endpoint);
  return { dbBytes: dbSize, inUseBytes: dbSizeInUse, isFull: alarms.length > 0 };
}

/** Every member has a file of its own, and one that is full is enough for etcd to refuse writes. */
function largestOf(sizes: readonly EtcdSizes[]): EtcdSizes {
  return {
    dbBytes: Math.max(...sizes.map(({ dbBytes }) => dbBytes)),
    inUseBytes: Math.max(...sizes.map(({ inUseBytes }) => inUseBytes)),
    isFull: sizes.some(({ isFull }) => isFull),
  };
}

/** Returns the members that raised the alarm: each one has its own. */
async function readAlarms(endpoint: ProbeEndpoint): Promise<readonly string[]> {
  const body = { action: 'GET' };
  const { alarms } = await askEtcd(endpoint, ALARMS, { shape: alarmAnswer, body });
  return alarms.filter(({ alarm }) => alarm === ALARM).map(({ memberID }) => memberID);
}

async function endAlarms(endpoint: ProbeEndpoint): Promise<void> {
  for (const memberID of await readAlarms(endpoint)) {
    const body = { action: 'DEACTIVATE', memberID, alarm: ALARM };
    await askEtcd(endpoint, ALARMS, { shape: anyAnswer, body });
  }
}

/** Forgets former versions. A revision that is compacted already is refused, which changes nothing. */
async function compact(endpoint: ProbeEndpoint): Promise<void> {
  const { revision } = await readKeyState(endpoint);
  const body = { revision: String(revision), physical: true };
  const limits = { shape: anyAnswer, timeoutMs: DEFRAGMENT_MS };
  try {
    await askEtcd(endpoint, '/v3/kv/compaction', { body, ...limits });
  } catch (error) {
    if (!messageOf(error).includes('has been compacted')) throw error;
  }
}
