import { describe, expect, it } from 'vitest';
import { createMetrics, type Metrics } from '../../../src/kube/process/metrics.ts';

const ANY = { of: 'names', most: 10 };
const TWO = { of: 'names', most: 2 };

describe('createMetrics', () => {
  it('writes the text format, with prefix and escaping', async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: 'things_total', help: 'Things.', labels: { kind: ANY } });
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
    metrics.gauge({ name: 'depth', help: 'Depth.', labels: { queue: ANY }, read: () => depths });
    expect(await lines(metrics)).toEqual(['kubenode_depth{queue="a"} 1']);
    depths = [[{ queue: 'b' }, 2]];
    expect(await lines(metrics)).toEqual(['kubenode_depth{queue="b"} 2']);
  });

  it('removes a value that was set', async () => {
    const metrics = createMetrics();
    const gauge = metrics.gauge({ name: 'held', help: 'Held.', labels: { lease: ANY } });
    gauge.set({ lease: 'a' }, 1);
    gauge.set({ lease: 'b' }, 1);
    gauge.remove({ lease: 'a' });
    expect(await lines(metrics)).toEqual(['kubenode_held{lease="b"} 1']);
  });

  it('counts label sets beyond the limit together, and known ones separately', async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: 'calls_total', help: 'Calls.', labels: { node: TWO } });
    for (const node of ['a', 'b', 'c', 'd', 'a']) counter.add({ node });
    expect(await lines(metrics)).toEqual([
      'kubenode_calls_total{node="a"} 2',
      'kubenode_calls_total{node="b"} 1',
      'kubenode_calls_total{node="other"} 2',
    ]);
  });

  it('leaves out what is beyond the limit of a gauge, and tells how much that is', async () => {
    const metrics = createMetrics();
    const names = ['a', 'b', 'c', 'd'];
    const read = (): [{ zone: string }, number][] => names.map((zone) => [{ zone }, 1]);
    metrics.gauge({ name: 'load', help: 'Load.', labels: { zone: TWO }, read });
    await metrics.text();
    expect(await lines(metrics)).toEqual([
      'kubenode_metric_series_left_out{metric="load"} 2',
      'kubenode_load{zone="a"} 1',
      'kubenode_load{zone="b"} 1',
    ]);
    names.splice(0, 3);
    await metrics.text();
    expect(await lines(metrics)).toEqual(['kubenode_load{zone="d"} 1']);
  });

  it('has room for a value of a gauge once another one is removed', async () => {
    const metrics = createMetrics();
    const held = metrics.gauge({ name: 'held', help: 'Held.', labels: { lease: TWO } });
    for (const lease of ['a', 'b', 'c']) held.set({ lease }, 1);
    held.remove({ lease: 'a' });
    held.remove({ lease: 'c' });
    held.set({ lease: 'd' }, 1);
    expect(await lines(metrics)).toEqual(['kubenode_held{lease="b"} 1', 'kubenode_held{lease="d"} 1']);
  });

  it('has no value for a gauge that reads none: an unknown time is not 1970', async () => {
    const metrics = createMetrics();
    metrics.gauge({ name: 'end_seconds', help: 'End.', read: () => [] });
    expect(await lines(metrics)).toEqual([]);
  });

  it('begins counters of a short list and histograms at zero, so that the first event is a change', async () => {
    const metrics = createMetrics();
    metrics.counter({ name: 'hooks_total', help: 'Hooks.', labels: { result: ['Refused', 'Accepted'] } });
    const wait = metrics.histogram({ name: 'wait', help: 'Wait.', labels: { rule: ANY }, buckets: [1] });
    wait.begin({ rule: 'a' });
    wait.observe({ rule: 'a' }, 0.5);
    wait.begin({ rule: 'a' });
    expect(await lines(metrics)).toEqual([
      'kubenode_hooks_total{result="Refused"} 0',
      'kubenode_hooks_total{result="Accepted"} 0',
      'kubenode_wait_bucket{le="1",rule="a"} 1',
      'kubenode_wait_bucket{le="+Inf",rule="a"} 1',
      'kubenode_wait_sum{rule="a"} 0.5',
      'kubenode_wait_count{rule="a"} 1',
    ]);
  });

  it('keeps the series of 10,000 names that come and go within the limit', async () => {
    const metrics = createMetrics();
    const counter = metrics.counter({ name: 'faults_total', help: 'Faults.', labels: { rule: ANY } });
    for (let index = 0; index < 10_000; index += 1) counter.add({ rule: `rule-${index}` });
    const found = await lines(metrics);
    expect(found).toHaveLength(11);
    expect(found.at(-1)).toBe('kubenode_faults_total{rule="other"} 9990');
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
