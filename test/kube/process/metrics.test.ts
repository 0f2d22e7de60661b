import { describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../../src/kube/process/metrics.ts';

describe('createMetrics', () => {
  it('writes the text format, with prefix and escaping', async () => {
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

  it('calls `read` of a gauge when it is read, and drops values that it no longer returns', async () => {
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

  it('counts label sets beyond the limit together, and known ones separately', async () => {
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

async function lines(metrics: Metrics): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line !== '' && !line.startsWith('#'));
}
