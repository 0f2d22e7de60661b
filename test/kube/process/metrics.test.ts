import { describe, expect, it } from 'vitest';
import { createLoopDelay } from '../../../src/kube/process/loop-delay.ts';
import { createMetrics, type Metrics } from '../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../src/kube/process/metrics-runtime.ts';

describe('createMetrics', () => {
  it('writes the text format, prefixed and escaped', async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: 'things_total', help: 'Things.', labels: ['kind'] });
    counter.add({ kind: 'a"b\nc' }, 3);
    counter.add({ kind: 'a"b\nc' });
    expect(await metrics.text()).toContain(
      '# TYPE kubenode_things_total counter\nkubenode_things_total{kind="a\\"b\\nc"} 4\n',
    );
    expect(metrics.contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it('shares nothing between two registries', async () => {
    const one = createMetrics();
    const two = createMetrics();
    one.counter({ name: 'things_total', help: 'Things.' }).add({});
    two.counter({ name: 'things_total', help: 'Things.' });
    expect(await lines(one)).toEqual(['kubenode_things_total 1']);
    expect(await lines(two)).toEqual(['kubenode_things_total 0']);
  });

  it('asks a gauge when it is read, and forgets what is no longer said', async () => {
    const metrics = createMetrics();
    let depths: [{ queue: string }, number][] = [[{ queue: 'a' }, 1]];
    metrics.gauge({ name: 'depth', help: 'Depth.', labels: ['queue'], read: () => depths });
    expect(await lines(metrics)).toEqual(['kubenode_depth{queue="a"} 1']);
    depths = [[{ queue: 'b' }, 2]];
    expect(await lines(metrics)).toEqual(['kubenode_depth{queue="b"} 2']);
  });

  it('removes a value that was set', async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: 'held', help: 'Held.', labels: ['lease'] });
    gauge.set({ lease: 'a' }, 1);
    gauge.set({ lease: 'b' }, 1);
    gauge.remove({ lease: 'a' });
    expect(await lines(metrics)).toEqual(['kubenode_held{lease="b"} 1']);
  });

  it('counts label sets beyond the bound together, and known ones apart for ever', async () => {
    const metrics = createMetrics({ maxSeries: 2 });
    const counter = metrics.counter({ name: 'calls_total', help: 'Calls.', labels: ['node'] });
    for (const node of ['a', 'b', 'c', 'd', 'a']) counter.add({ node });
    expect(await lines(metrics)).toEqual([
      'kubenode_calls_total{node="a"} 2',
      'kubenode_calls_total{node="b"} 1',
      'kubenode_calls_total{node="other"} 2',
    ]);
  });

  it.each(['Things_total', 'things-total', 'things__total', '', 'thingstotal'])(
    'refuses the counter name %j',
    (name) => {
      expect(() => createMetrics().counter({ name, help: 'x' })).toThrow(RangeError);
    },
  );

  it('refuses the same name twice', () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'things_total', help: 'Things.' });
    expect(() => metrics.counter({ name: 'things_total', help: 'Things.' })).toThrow(/already/);
  });
});

describe('createRuntimeMetrics', () => {
  it('counts all that the runtime does', async () => {
    const metrics = createMetrics();
    const runtime = createRuntimeMetrics(metrics);
    let depth = 0;
    const queue = runtime.queue('machine', () => depth);
    depth = 7;
    queue.taken(0.02);
    queue.retried();
    runtime.call({ verb: 'get', code: '200', seconds: 0.02 });
    runtime.watch.restarted('Node', 'Gone');
    runtime.ended('machine', 'done', 0.3);
    runtime.lease.held('kubenode-system/controllers', true);
    runtime.lease.ended('kubenode-system/controllers', 'expired');
    runtime.events.written();
    runtime.events.dropped('full');
    expect(await lines(metrics)).toEqual(
      expect.arrayContaining([
        'kubenode_queue_depth{queue="machine"} 7',
        'kubenode_queue_wait_seconds_bucket{le="0.1",queue="machine"} 1',
        'kubenode_queue_retries_total{queue="machine"} 1',
        'kubenode_api_requests_total{verb="get",code="200"} 1',
        'kubenode_api_request_seconds_count{verb="get"} 1',
        'kubenode_watch_restarts_total{kind="Node",because="Gone"} 1',
        'kubenode_reconcile_seconds_bucket{le="0.5",controller="machine",outcome="done"} 1',
        'kubenode_lease_held{lease="kubenode-system/controllers"} 1',
        'kubenode_lease_terms_ended_total{lease="kubenode-system/controllers",because="expired"} 1',
        'kubenode_events_written_total 1',
        'kubenode_events_dropped_total{because="full"} 1',
      ]),
    );
  });

  it('shows how late the event loop ran, and starts anew with each reading', async () => {
    const delay = createLoopDelay(10);
    try {
      const metrics = createMetrics();
      createRuntimeMetrics(metrics, delay);
      await nextTick(30);
      const end = performance.now() + 150;
      while (performance.now() < end);
      await nextTick(30);
      const stalled = delayOf(await lines(metrics));
      expect(stalled).toBeGreaterThan(0.1);
      await nextTick(30);
      expect(delayOf(await lines(metrics))).toBeLessThan(stalled);
    } finally {
      delay.stop();
    }
  });
});

function delayOf(all: readonly string[]): number {
  const line = all.find((text) => text.startsWith('kubenode_event_loop_delay_seconds{quantile="max"}'));
  return Number(line?.split(' ')[1]);
}

function nextTick(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}

async function lines(metrics: Metrics): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
