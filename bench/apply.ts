/** Server-side apply through the client against a bare loop that sends the same bytes. */

import { Pool } from 'undici';
import type { Client } from '../src/kube/client/client.ts';
import { CONFIG_MAPS } from '../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../src/kube/objects/object.ts';
import { ADMIN } from '../src/local/pki/authority.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { type ApiServer, startServer } from '../test/support/control-plane-server.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';

const CONCURRENCY = 8;
const OBJECTS = 500;
// Both alternate, so that other load on this machine affects both equally; the result is the median of the ratios.
const ROUNDS = 9;
const MANAGER = 'bench';

export const bench: Bench = {
  name: 'apply',
  what: 'server-side applies per second through the client, against a bare keep-alive loop of undici with the same bytes',
  run,
};

async function run(): Promise<BenchResult> {
  const shared = await openRun();
  const server = await startServer(shared);
  const pool = barePool(server);
  try {
    await applyAll(server.client, 0); // connections, and the objects themselves
    const rounds: { readonly ours: number; readonly bare: number }[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const ours = await rateOf(() => applyAll(server.client, round * 2));
      const bare = await rateOf(() => applyAllBare(pool, round * 2 + 1));
      rounds.push({ ours, bare });
    }
    return resultOf(rounds);
  } finally {
    await pool.destroy();
    await server.stop();
    await closeRun(shared);
  }
}

function resultOf(rounds: readonly { readonly ours: number; readonly bare: number }[]): BenchResult {
  const appliesPerSecond = median(rounds.map(({ ours }) => ours));
  const ratio = median(rounds.map(({ ours, bare }) => ours / bare));
  return {
    measured: { appliesPerSecond },
    baseline: { appliesPerSecond: median(rounds.map(({ bare }) => bare)) },
    ratios: { appliesPerSecond: ratio },
    gates: [{ what: 'applies per second, relative to a bare loop', value: ratio, atLeast: 0.8 }],
    setting: { concurrency: CONCURRENCY, objects: OBJECTS, rounds: ROUNDS },
  };
}

function median(numbers: readonly number[]): number {
  return percentile(numbers, 0.5);
}

function barePool(server: ApiServer): Pool {
  const { certPem, keyPem } = server.certificateFor(ADMIN);
  const connect = { ca: server.caPem, cert: certPem, key: keyPem };
  return new Pool(server.url, { connections: CONCURRENCY, pipelining: 1, allowH2: false, connect });
}

function applyAll(client: Client, value: number): Promise<void> {
  return inParallel(async (index) => {
    await client.apply(CONFIG_MAPS, map(index, value), { fieldManager: MANAGER });
  });
}

function applyAllBare(pool: Pool, value: number): Promise<void> {
  return inParallel(async (index) => {
    const { statusCode, body } = await pool.request({
      method: 'PATCH',
      path: `/api/v1/namespaces/default/configmaps/bench-${index}?fieldManager=${MANAGER}&fieldValidation=Strict&force=false`,
      headers: { 'content-type': 'application/apply-patch+yaml', accept: 'application/json' },
      body: JSON.stringify(map(index, value)),
    });
    await body.text();
    if (statusCode !== 200) throw new Error(`the API server answered ${statusCode}`);
  });
}

/** Each object once, CONCURRENCY at a time. */
async function inParallel(act: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < OBJECTS) {
      const index = next;
      next += 1;
      await act(index);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
}

async function rateOf(work: () => Promise<void>): Promise<number> {
  const start = performance.now();
  await work();
  return (OBJECTS / (performance.now() - start)) * 1000;
}

function map(index: number, value: number): KubeObject {
  const metadata = { name: `bench-${index}`, namespace: 'default', labels: { app: 'bench' } };
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata,
    data: { value: String(value), text: 'x'.repeat(500) },
  };
}
