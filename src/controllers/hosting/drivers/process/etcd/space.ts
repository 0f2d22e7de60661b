/** Asks an etcd for the size of its database, and makes it smaller. */
import { z } from 'zod';
import { type ProbeEndpoint, sendProbe } from '../../../../../local/processes/probe.ts';
import type { EtcdSpace } from '../../driver.ts';

const integer = z.string().regex(/^\d+$/).transform(Number);
const statusAnswer = z.object({
  header: z.object({ revision: integer.optional(), member_id: z.string() }),
  dbSize: integer.optional(),
  dbSizeInUse: integer.optional(),
});
const alarmAnswer = z.object({ alarms: z.array(z.object({ alarm: z.string().optional() })).optional() });

const ALARM = 'NOSPACE';
/** Less than the quota, so that the next write does not fill it again. */
const ROOM = 0.9;
/** The time for a database of 8 GiB, which is written to another file. */
const DEFRAGMENT_MS = 120_000;

type Sizes = Omit<EtcdSpace, 'attempt' | 'quotaBytes'>;

export async function readSpace(endpoint: ProbeEndpoint): Promise<Sizes> {
  const { dbSize = 0, dbSizeInUse = 0 } = await ask(endpoint, '/v3/maintenance/status', statusAnswer);
  const { alarms = [] } = await ask(endpoint, '/v3/maintenance/alarm', alarmAnswer, { action: 'GET' });
  const isFull = alarms.some(({ alarm }) => alarm === ALARM);
  return { dbBytes: dbSize, inUseBytes: dbSizeInUse, isFull };
}

/** Every step can be repeated. The alarm ends only when there is room: otherwise the next write would raise it again. */
export async function shrink(endpoint: ProbeEndpoint, quotaBytes: number): Promise<Sizes> {
  const { isFull } = await readSpace(endpoint);
  if (isFull) await compact(endpoint);
  await ask(endpoint, '/v3/maintenance/defragment', z.object({}), {});
  const after = await readSpace(endpoint);
  if (!after.isFull || after.dbBytes > ROOM * quotaBytes) return after;
  const { header } = await ask(endpoint, '/v3/maintenance/status', statusAnswer);
  const body = { action: 'DEACTIVATE', memberID: header.member_id, alarm: ALARM };
  await ask(endpoint, '/v3/maintenance/alarm', alarmAnswer, body);
  return await readSpace(endpoint);
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
  const { header } = await ask(endpoint, '/v3/kv/range', range, body);
  return String(header.revision);
}

// oxlint-disable-next-line max-params -- endpoint, path, shape and body of one request
async function ask<T>(
  endpoint: ProbeEndpoint,
  path: string,
  shape: z.ZodType<T>,
  body: object = {},
): Promise<T> {
  const url = `${endpoint.url}${path}`;
  const answer = await sendProbe(
    { ...endpoint, url },
    { method: 'POST', body: JSON.stringify(body), timeoutMs: DEFRAGMENT_MS },
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
