import { describe, expect, it } from 'vitest';
import { createLoopDelay } from '../../../src/kube/process/loop-delay.ts';
import { createMetrics, type Metrics } from '../../../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../../../src/kube/process/metrics-runtime.ts';

describe('createRuntimeMetrics', () => {
  it('counts the operations of the runtime', async () => {
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
    runtime.lease.held('kubenode-system/controllers', 7);
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

  it('reports the delay of the event loop, and resets it with each read', async () => {
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
