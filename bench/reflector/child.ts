/**
 * One variant of keeping 10,000 Nodes in memory, in its own process: `node child.ts <variant> <kubeconfig>`. It reports
 * to its parent when it has all of them and, on request, its memory and the lateness of its events.
 */

import { createReflector } from '../../src/kube/cache/reflector.ts';
import { createStore } from '../../src/kube/cache/store.ts';
import { createTransform } from '../../src/kube/cache/trim.ts';
import { connect } from '../../src/kube/client/connect.ts';
import type { Log } from '../../src/kube/process/log.ts';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { percentile } from '../bench.ts';
import { NODES, SENT } from './nodes.ts';

export type Way = 'ours' | 'bare' | 'informer';

/** Sent to the parent. */
export type ChildMessage = { readonly synced: number; readonly objects: number } | Cost;

export interface Cost {
  readonly residentMiB: number;
  readonly peakMiB: number;
  readonly events: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const MIB = 2 ** 20;
const clock = createSystemClock();
const lateness: number[] = [];
const nothing = (): void => {};
const log: Log = { debug: nothing, info: nothing, warn: nothing, error: nothing, with: () => log };

const [way = '', kubeconfig = ''] = process.argv.slice(2);
const start = clock.monotonicMs();
const objects = await begin(way as Way);
process.send?.({ synced: clock.monotonicMs() - start, objects });
process.on('message', () => {
  const cost: Cost = {
    residentMiB: process.memoryUsage.rss() / MIB,
    peakMiB: process.resourceUsage().maxRSS / 1024,
    events: lateness.length,
    p50Ms: percentile(lateness, 0.5),
    p99Ms: percentile(lateness, 0.99),
  };
  process.send?.(cost, () => process.exit(0));
});

function begin(as: Way): Promise<number> {
  if (as === 'ours') return ours();
  return as === 'bare' ? bare() : informer();
}

async function ours(): Promise<number> {
  const client = await connect({ kubeconfig });
  const nodes = createStore({ log });
  nodes.subscribe({ updated: ({ metadata }) => recordLateness(metadata.annotations) });
  const transform = createTransform(['status.images']);
  const parts = { client, resource: NODES, store: nodes, clock, log, transform };
  const running = createReflector({ ...parts, random: () => 0.5 });
  void running.run(new AbortController().signal);
  await running.synced();
  return nodes.size;
}

/** The same pages, but not kept; then a watch without a store. */
async function bare(): Promise<number> {
  const client = await connect({ kubeconfig });
  let count = 0;
  let resourceVersion = '';
  for await (const page of client.pages(NODES)) {
    count += page.items.length;
    ({ resourceVersion } = page);
  }
  void follow();
  return count;

  async function follow(): Promise<void> {
    const options = { resourceVersion, timeoutSeconds: 600 };
    for await (const { object } of client.watch(NODES, options)) recordLateness(object.metadata.annotations);
  }
}

async function informer(): Promise<number> {
  const { CoreV1Api, KubeConfig, makeInformer } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const api = config.makeApiClient(CoreV1Api);
  const list = makeInformer(config, '/api/v1/nodes', () => api.listNode());
  list.on('update', ({ metadata }) => recordLateness(metadata?.annotations));
  await list.start();
  return list.list().length;
}

function recordLateness(annotations: Readonly<Record<string, string>> | undefined): void {
  const sent = annotations?.[SENT];
  if (sent) lateness.push(clock.now().getTime() - Number(sent));
}
