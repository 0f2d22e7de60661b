/** Asks an etcd for the size of its database, and makes it smaller. */
import { z } from 'zod';
import { type ProbeEndpoint, sendProbe } from '../../../../../local/processes/probe.ts';
import type { EtcdSpace } from '../../driver.ts';

const integer = z.string().regex(/^\d+$/).transform(Number);
const statusAnswer = z.object({
  header: z.object({ revision: integer.optional() }),
  dbSize: integer.optional(),
  dbSizeInUse: integer.optional(),
});
const alarmAnswer = z.object({
  alarms: z.array(z.object({ memberID: z.string().default('0'), alarm: z.string().optional() })).default([]),
});

const ALARM = 'NOSPACE';
/** Less than the quota, so that the next write does not fill it again. */
const ROOM = 0.9;
/** The time for a database of 8 GiB, which is written to another file. */
const DEFRAGMENT_MS = 120_000;

type Sizes = Omit<EtcdSpace, 'attempt' | 'quotaBytes'>;

/** Asks every member. Undefined: none answers. */
export async function readSpace(endpoints: readonly ProbeEndpoint[]): Promise<Sizes | undefined> {
  const answers = await Promise.all(endpoints.map((each) => readSizes(each).catch(() => undefined)));
  const found = answers.filter((sizes) => sizes !== undefined);
  return found.length === 0 ? undefined : largestOf(found);
}

/**
 * Defragments one member after the other, each only while all of them answer. Every step can be repeated. The alarms end only when every
 * member has room: otherwise the next write would raise one again.
 */
export async function shrink(endpoints: readonly ProbeEndpoint[], quotaBytes: number): Promise<Sizes> {
  const [first] = endpoints;
  const { isFull } = await readAll(endpoints);
  if (isFull && first) await compact(first);
  for (const endpoint of endpoints) {
    await readAll(endpoints);
    await ask(endpoint, '/v3/maintenance/defragment', z.object({}), { timeoutMs: DEFRAGMENT_MS });
  }
  const after = await readAll(endpoints);
  if (!after.isFull || after.dbBytes > ROOM * quotaBytes || !first) return after;
  await endAlarms(first);
  return await readAll(endpoints);
}

/** Rejects unless every member answers. */
async function readAll(endpoints: readonly ProbeEndpoint[]): Promise<Sizes> {
  return largestOf(await Promise.all(endpoints.map(readSizes)));
}

async function readSizes(endpoint: ProbeEndpoint): Promise<Sizes> {
  const { dbSize = 0, dbSizeInUse = 0 } = await ask(endpoint, '/v3/maintenance/status', statusAnswer);
  const alarms = await readAlarms(endpoint);
  return { dbBytes: dbSize, inUseBytes: dbSizeInUse, isFull: alarms.length > 0 };
}

/** Every member has a file of its own, and one that is full is enough for etcd to refuse writes. */
function largestOf(sizes: readonly Sizes[]): Sizes {
  return {
    dbBytes: Math.max(...sizes.map(({ dbBytes }) => dbBytes)),
    inUseBytes: Math.max(...sizes.map(({ inUseBytes }) => inUseBytes)),
    isFull: sizes.some(({ isFull }) => isFull),
  };
}

/** Returns the members that raised the alarm: each one has its own. */
async function readAlarms(endpoint: ProbeEndpoint): Promise<readonly string[]> {
  const body = { action: 'GET' };
  const { alarms } = await ask(endpoint, '/v3/maintenance/alarm', alarmAnswer, { body });
  return alarms.filter(({ alarm }) => alarm === ALARM).map(({ memberID }) => memberID);
}

async function endAlarms(endpoint: ProbeEndpoint): Promise<void> {
  for (const memberID of await readAlarms(endpoint)) {
    const body = { action: 'DEACTIVATE', memberID, alarm: ALARM };
    await ask(endpoint, '/v3/maintenance/alarm', alarmAnswer, { body });
  }
}

/** Forgets former versions. A revision that is compacted already is refused, which changes nothing. */
async function compact(endpoint: ProbeEndpoint): Promise<void> {
  const { header } = await ask(endpoint, '/v3/maintenance/status', statusAnswer);
  const url = `${endpoint.url}/v3/kv/compaction`;
  const body = JSON.stringify({ revision: await currentRevision(endpoint, header.revision), physical: true });
  const { status, body: text } = await sendProbe(
    { ...endpoint, url },
    { method: 'POST', body, timeoutMs: DEFRAGMENT_MS },
  );
  if (status === 200 || text.includes('has been compacted')) return;
  throw new Error(`${url} answered ${status}: ${text.slice(0, 200)}`);
}

async function currentRevision(endpoint: ProbeEndpoint, known: number | undefined): Promise<string> {
  if (known !== undefined) return String(known);
  const range = z.object({ header: z.object({ revision: integer }) });
  const body = { key: 'AA==', range_end: 'AA==', count_only: true };
  const { header } = await ask(endpoint, '/v3/kv/range', range, { body });
  return String(header.revision);
}

interface EtcdRequest {
  readonly body?: object;
  readonly timeoutMs?: number;
}

// oxlint-disable-next-line max-params -- endpoint, path, shape and content of one request
async function ask<T>(
  endpoint: ProbeEndpoint,
  path: string,
  shape: z.ZodType<T>,
  { body = {}, ...limits }: EtcdRequest = {},
): Promise<T> {
  const url = `${endpoint.url}${path}`;
  const answer = await sendProbe(
    { ...endpoint, url },
    { method: 'POST', body: JSON.stringify(body), ...limits },
  );
  const { data } = shape.safeParse(parse(answer.body));
  if (answer.status === 200 && data !== undefined) return data;
  throw new Error(`${url} answered ${answer.status}: ${answer.body.slice(0, 200)}`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
