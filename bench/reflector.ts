/** 10,000 Nodes of 6 KB in memory, and 500 changes a second to them: the reflector, a bare list, and client-node's informer. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client, ListPage } from '../src/kube/client/client.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { startServer } from '../test/support/control-plane-server.ts';
import { type Bench, type BenchResult, KUBENODE_FLAGS, percentile } from './bench.ts';
import type { ChildMessage, Cost, Way } from './reflector/child.ts';
import { type EventSource, eventSource } from './reflector/event-source.ts';
import { createNodes, NODES } from './reflector/nodes.ts';

const COUNT = 10_000;
const EVENTS_PER_SECOND = 500;
const SECONDS = 10;
/** The variants alternate, so that other load on this machine affects all equally. */
const ROUNDS = 3;
/** For all variants. */
const NODE_OPTIONS = ['--no-warnings', ...KUBENODE_FLAGS];
const WAYS: readonly Way[] = ['bare', 'ours', 'informer'];
const clock = createSystemClock();

export const bench: Bench = {
  name: 'reflector',
  what: `${COUNT} Nodes of 6 KB: first sync against a bare paged list, memory, lateness of events; the informer of client-node for comparison`,
  run,
};

async function run(): Promise<BenchResult> {
  const shared = await openRun();
  const server = await startServer(shared);
  const folder = mkdtempSync(join(tmpdir(), 'bench-'));
  const tries: Try[] = [];
  try {
    await createNodes(server.client, COUNT);
    const source = await eventSource(await record(server.client), folder);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const way of WAYS) tries.push(await measured(way, server.kubeconfig, source));
    }
    await source.close();
    return resultOf(tries, await bytesOfOne(server.client));
  } finally {
    rmSync(folder, { recursive: true });
    await server.stop();
    await closeRun(shared);
  }
}

interface Try extends Cost {
  readonly way: Way;
  readonly syncMs: number;
}

/** First sync on the real server; memory and lateness on a simulated server with a constant rate of events. */
async function measured(way: Way, kubeconfig: string, source: EventSource): Promise<Try> {
  const first = await child(way, kubeconfig, () => Promise.resolve());
  const second = await child(way, source.kubeconfig, async () => {
    await source.send(EVENTS_PER_SECOND, SECONDS);
    await clock.sleep(1000); // for the last events to arrive
  });
  return { ...second.cost, way, syncMs: first.syncMs };
}

async function child(
  way: Way,
  kubeconfig: string,
  meanwhile: () => Promise<void>,
): Promise<{ readonly syncMs: number; readonly cost: Cost }> {
  const process = fork(fileURLToPath(new URL('reflector/child.ts', import.meta.url)), [way, kubeconfig], {
    execArgv: NODE_OPTIONS,
  });
  const died = once(process, 'exit').then(([code]) => {
    throw new Error(`${way} exited with ${code} before it answered`);
  });
  const receive = async (): Promise<ChildMessage> =>
    ((await Promise.race([once(process, 'message'), died])) as [ChildMessage])[0];
  const first = await receive();
  if (!('synced' in first) || first.objects !== COUNT) throw new Error(`${way}: ${JSON.stringify(first)}`);
  await meanwhile();
  const answer = receive();
  process.send('cost?');
  const cost = await answer;
  if ('synced' in cost) throw new Error(`${way} synced twice`);
  await died.catch(() => {}); // expected: it exits after its answer
  return { syncMs: first.synced, cost };
}

async function record(client: Client): Promise<ListPage[]> {
  const pages: ListPage[] = [];
  for await (const page of client.pages(NODES)) pages.push(page);
  return pages;
}

async function bytesOfOne(client: Client): Promise<number> {
  const { items } = await client.list(NODES, { limit: 1 });
  return JSON.stringify(items[0]).length;
}

function resultOf(tries: readonly Try[], nodeBytes: number): BenchResult {
  const [bare, ours, informer] = WAYS.map((way) => typical(tries.filter((one) => one.way === way)));
  if (!bare || !ours || !informer) throw new Error('a variant was not measured');
  const sync = ours.syncMs / bare.syncMs;
  return {
    measured: ours,
    baseline: { ...named('bare', bare), ...named('informer', informer) },
    ratios: { syncToBareList: sync, residentToInformer: ours.residentMiB / informer.residentMiB },
    gates: [
      { what: 'MiB resident once settled', value: ours.residentMiB, atMost: 250 },
      { what: 'MiB resident at the peak', value: ours.peakMiB, atMost: 400 },
      { what: 'first sync, relative to a bare paged list', value: sync, atMost: 2 },
      { what: 'ms from an event to its handler, p99', value: ours.p99Ms, atMost: 100 },
    ],
    setting: {
      nodes: COUNT,
      nodeBytes,
      eventsPerSecond: EVENTS_PER_SECOND,
      seconds: SECONDS,
      rounds: ROUNDS,
      nodeOptions: NODE_OPTIONS.join(' '),
    },
  };
}

const NUMBERS = ['syncMs', 'residentMiB', 'peakMiB', 'events', 'p50Ms', 'p99Ms'] as const;
type Numbers = Readonly<Record<(typeof NUMBERS)[number], number>>;

/** The median of each number. */
function typical(tries: readonly Try[]): Numbers {
  const median = (name: (typeof NUMBERS)[number]): number =>
    percentile(
      tries.map((one) => one[name]),
      0.5,
    );
  return Object.fromEntries(NUMBERS.map((name) => [name, median(name)])) as Numbers;
}

function named(prefix: string, numbers: Numbers): Readonly<Record<string, number>> {
  const capital = (name: string): string => `${prefix}${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [capital(name), value]));
}
