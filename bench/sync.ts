/** `kubenode sync` on a fleet of 5,000 objects: first apply, memory, idle cost, drift, and the time from a push to the first write. */

import { Pool } from 'undici';
import { CONFIG_MAPS } from '../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../src/kube/objects/object.ts';
import { ADMIN } from '../src/local/pki/authority.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import type { ApiServer } from '../test/support/control-plane-server.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';
import { type Call, isWrite } from './sync/audit.ts';
import { type Bed, openBed, UNIT_NAMESPACE } from './sync/bed.ts';

const OBJECTS = 5000;
/** As many requests as sync has in flight. */
const CONCURRENCY = 8;
const IDLE_SECONDS = 120;
const DRIFTS = 100;
const PUSHES = 20;
const PATIENCE_MS = 180_000;
const clock = createSystemClock();

export const bench: Bench = {
  name: 'sync',
  what: 'kubenode sync with 5,000 objects in one cluster, by the audit log of its API server: first apply against a bare keep-alive loop, memory, idle requests, drift, push to first write',
  run,
};

async function run(): Promise<BenchResult> {
  const bed = await openBed();
  try {
    const bareBefore = await bareRate(bed.server, 'before');
    const first = await firstApply(bed);
    const { peak: firstPeakMiB } = await bed.memory();
    const bareAfter = await bareRate(bed.server, 'after');
    const idle = await idleCalls(bed);
    const driftSeconds = await inTurn(DRIFTS, (index) => drift(bed, index));
    const changes = new Map<number, string>();
    const pushSeconds = await inTurn(PUSHES, (index) => push(bed, index, changes));
    const memory = await bed.memory();
    const appliesPerSecond = (bareBefore + bareAfter) / 2;
    const requestsPerObjectHour = (idle.length / IDLE_SECONDS / OBJECTS) * 3600;
    const idleWrites = idle.filter(isWrite).length;
    const [driftP99, pushP95] = [percentile(driftSeconds, 0.99), percentile(pushSeconds, 0.95)];
    const ratio = first / appliesPerSecond;
    return {
      measured: {
        appliesPerSecond: first,
        firstPeakMiB,
        // After the pushes: each is a commit of all objects, and some of them are kept.
        laterPeakMiB: memory.peak,
        laterResidentMiB: memory.resident,
        idleWrites,
        idleRequestsPerObjectHour: requestsPerObjectHour,
        driftP50Seconds: percentile(driftSeconds, 0.5),
        driftP99Seconds: driftP99,
        pushP50Seconds: percentile(pushSeconds, 0.5),
        pushP95Seconds: pushP95,
      },
      baseline: { appliesPerSecond },
      ratios: { appliesPerSecond: ratio },
      gates: [
        {
          what: 'objects per second of the first apply, relative to a bare loop',
          value: ratio,
          atLeast: 0.5,
        },
        { what: 'MiB resident at the peak of the first apply', value: firstPeakMiB, atMost: 256 },
        { what: 'writes while in sync', value: idleWrites, atMost: 0 },
        { what: 'requests per object and hour while in sync', value: requestsPerObjectHour, atMost: 0.1 },
        {
          what: 'seconds from a manual change to the write that corrects it, p99',
          value: driftP99,
          atMost: 2,
        },
        { what: 'seconds from a push to the first write, p95', value: pushP95, atMost: 5 },
      ],
      setting: {
        objects: OBJECTS,
        concurrency: CONCURRENCY,
        idleSeconds: IDLE_SECONDS,
        drifts: DRIFTS,
        pushes: PUSHES,
        pollSeconds: 1,
      },
    };
  } finally {
    await bed.close();
  }
}

/** From its first write, which is the inventory's, to the last one. */
async function firstApply(bed: Bed): Promise<number> {
  bed.push(OBJECTS);
  bed.startSync();
  const applied = (calls: readonly Call[]): boolean =>
    new Set(calls.filter(isOurs).map(({ name }) => name)).size === OBJECTS;
  await eventually(bed, applied, `${OBJECTS} objects are applied`);
  const writes = (await quiet(bed)).filter(isWrite);
  const startMs = Math.min(...writes.map(({ receivedMs }) => receivedMs));
  const endMs = Math.max(...writes.map(({ answeredMs }) => answeredMs));
  return (OBJECTS / (endMs - startMs)) * 1000;
}

async function idleCalls(bed: Bed): Promise<Call[]> {
  const before = (await quiet(bed)).length;
  await clock.sleep(IDLE_SECONDS * 1000);
  return (await bed.audit.calls()).slice(before);
}

/** From the change to the call that corrects it. */
async function drift(bed: Bed, index: number): Promise<number> {
  const name = `bench-${(index * 37) % OBJECTS}`;
  const before = (await bed.audit.calls()).length;
  const live = await bed.server.client.get(CONFIG_MAPS, { namespace: UNIT_NAMESPACE, name });
  await bed.server.client.replace(CONFIG_MAPS, { ...live, data: { value: 'drift' } });
  const changedMs = clock.now().getTime();
  return secondsUntilWrite(bed, name, before, changedMs);
}

async function push(bed: Bed, index: number, changes: Map<number, string>): Promise<number> {
  const before = (await quiet(bed)).length;
  changes.set(index, '1');
  bed.push(OBJECTS, changes);
  return secondsUntilWrite(bed, `bench-${index}`, before, clock.now().getTime());
}

async function secondsUntilWrite(bed: Bed, name: string, skip: number, sinceMs: number): Promise<number> {
  const find = (calls: readonly Call[]): Call | undefined =>
    calls.slice(skip).find((call) => isOurs(call) && call.name === name);
  const calls = await eventually(bed, (all) => find(all) !== undefined, `${name} is written`);
  return ((find(calls)?.receivedMs ?? Number.NaN) - sinceMs) / 1000;
}

function isOurs(call: Call): boolean {
  return isWrite(call) && call.resource === CONFIG_MAPS.plural && call.namespace === UNIT_NAMESPACE;
}

/** No write for some seconds: sync has nothing left to do. */
async function quiet(bed: Bed): Promise<Call[]> {
  return eventually(
    bed,
    (calls) => {
      const lastMs = Math.max(0, ...calls.filter(isWrite).map(({ answeredMs }) => answeredMs));
      return clock.now().getTime() - lastMs > 3000;
    },
    'writes have ended',
  );
}

async function eventually(
  bed: Bed,
  holds: (calls: readonly Call[]) => boolean,
  what: string,
): Promise<Call[]> {
  const endMs = clock.monotonicMs() + PATIENCE_MS;
  while (clock.monotonicMs() < endMs) {
    const calls = await bed.audit.calls();
    if (holds(calls)) return calls;
    await clock.sleep(100);
  }
  throw new Error(`timed out after ${PATIENCE_MS / 1000} s: expected that ${what}`);
}

async function inTurn(times: number, work: (index: number) => Promise<number>): Promise<number[]> {
  const results: number[] = [];
  for (let index = 0; index < times; index += 1) results.push(await work(index));
  return results;
}

/** The same objects by a bare loop, in their own namespace. */
async function bareRate(server: ApiServer, namespace: string): Promise<number> {
  const { certPem, keyPem } = server.certificateFor(ADMIN);
  const connect = { ca: server.caPem, cert: certPem, key: keyPem };
  const pool = new Pool(server.url, { connections: CONCURRENCY, pipelining: 1, allowH2: false, connect });
  try {
    await apply(pool, '/api/v1/namespaces', namespaceNamed(namespace));
    const startMs = clock.monotonicMs();
    let next = 0;
    const worker = async (): Promise<void> => {
      while (next < OBJECTS) {
        const map = mapNumber(next, namespace);
        next += 1;
        await apply(pool, `/api/v1/namespaces/${namespace}/configmaps`, map);
      }
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, worker));
    return (OBJECTS / (clock.monotonicMs() - startMs)) * 1000;
  } finally {
    await pool.destroy();
  }
}

async function apply(pool: Pool, folder: string, object: KubeObject): Promise<void> {
  const { statusCode, body } = await pool.request({
    method: 'PATCH',
    path: `${folder}/${object.metadata.name}?fieldManager=bench&fieldValidation=Strict&force=false`,
    headers: { 'content-type': 'application/apply-patch+yaml', accept: 'application/json' },
    body: JSON.stringify(object),
  });
  await body.text();
  if (statusCode > 201) throw new Error(`the API server answered ${statusCode}`);
}

function mapNumber(index: number, namespace: string): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: `bench-${index}`, namespace, labels: { app: 'bench' } },
    data: { value: '0', text: 'x'.repeat(500) },
  };
}

function namespaceNamed(name: string): KubeObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}
