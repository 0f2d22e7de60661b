import { describe, expect, it } from 'vitest';
import type { RecordedLine } from '../../../src/rules/recording/format.ts';
import { createReplayViews, type ReplayViews } from '../../../src/rules/recording/replay-views.ts';
import { node } from '../../support/builders.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { NOW } from '../../support/virtual-clock.ts';

const AT = NOW.toISOString();

function ago(seconds: number): string {
  return new Date(+NOW - seconds * 1000).toISOString();
}

function viewsAfter(...lines: readonly RecordedLine[]): ReplayViews {
  const views = createReplayViews(memoryLog(), { ms: +NOW });
  for (const line of lines) views.apply(line);
  return views;
}

const SYNCED: RecordedLine = { type: 'Synced', at: AT };

describe('createReplayViews', () => {
  it('has objects as they are put, renewed by heartbeats and deleted, also one called constructor', () => {
    const object = node('constructor');
    const times = { Ready: ago(1) };
    const views = viewsAfter(
      { type: 'Put', at: AT, view: 'nodes', object },
      { type: 'Heartbeat', at: AT, node: 'constructor', times },
      { type: 'Heartbeat', at: AT, node: 'toString', times },
    );
    expect(views.stores.nodes.list()).toMatchObject([
      { metadata: { name: 'constructor' }, status: { conditions: [{ lastHeartbeatTime: ago(1) }] } },
    ]);
    views.apply({ type: 'Delete', at: AT, view: 'nodes', name: 'constructor' });
    views.apply({ type: 'Delete', at: AT, view: 'nodes', name: 'toString' });
    expect(views.stores.nodes.size).toBe(0);
  });

  it('is complete with the line that tells so, and as old as the last contact of a view', () => {
    const views = viewsAfter({ type: 'Contact', at: AT, view: 'jobs', lostSince: ago(200) });
    expect(views.views.nodes.reflector.freshness()).toMatchObject({ synced: false, ageMs: Infinity });
    views.apply(SYNCED);
    expect(views.views.jobs.reflector.freshness()).toMatchObject({ synced: true, ageMs: 200_000 });
    expect(views.views.nodes.reflector.freshness()).toMatchObject({ synced: true, ageMs: 0 });
    views.apply({ type: 'Contact', at: AT, view: 'jobs' });
    expect(views.views.jobs.reflector.freshness().ageMs).toBe(0);
  });

  it('hears of an agent until it is silent, and renews the Lease of no other', () => {
    const views = viewsAfter(
      { type: 'Lease', at: AT, view: 'agentLeases', name: 'm-1' },
      { type: 'Lease', at: AT, view: 'agentLeases', name: 'm-2' },
    );
    views.apply({ type: 'Lease', at: AT, view: 'agentLeases', name: 'm-2', silentSince: ago(20) });
    expect([views.isHeard('m-1'), views.isHeard('m-2'), views.isHeard('m-3')]).toEqual([true, false, false]);
    const versions = (): readonly unknown[] =>
      views.stores.agentLeases.list().map(({ metadata }) => metadata.resourceVersion);
    const before = versions();
    for (const machine of ['m-1', 'm-2', 'm-3']) views.renew(machine);
    expect(versions().map((version, index) => version === before[index])).toEqual([false, true]);
  });

  it('renews a Lease once for all that is read at the same time', () => {
    const time = { ms: +NOW };
    const views = createReplayViews(memoryLog(), time);
    views.apply({ type: 'Lease', at: AT, view: 'agentLeases', name: 'm-1' });
    let writes = 0;
    views.stores.agentLeases.subscribe({ updated: () => (writes += 1) });
    for (const machine of ['m-1', 'm-1']) views.renew(machine);
    time.ms += 1;
    for (const machine of ['m-1', 'm-1']) views.renew(machine);
    expect(writes).toBe(2);
  });

  it('forgets what it heard of the kubelet of a Node that is deleted, as the facts do', () => {
    const heard: readonly RecordedLine[] = [
      { type: 'Put', at: AT, view: 'nodes', object: node('m-1') },
      { type: 'Lease', at: AT, view: 'nodeLeases', name: 'm-1' },
    ];
    const versionAfter = (...lines: readonly RecordedLine[]): readonly (string | undefined)[] => {
      const views = viewsAfter(...heard, ...lines);
      const version = (): string | undefined =>
        views.stores.nodeLeases.list().map(({ metadata }) => metadata.resourceVersion)[0];
      const before = version();
      views.renew('m-1');
      return [before, version()];
    };
    const [before, renewed] = versionAfter();
    expect(renewed).not.toBe(before);
    const [last, after] = versionAfter({ type: 'Delete', at: AT, view: 'nodes', name: 'm-1' });
    expect(after).toBe(last);
    expect(last).toBeDefined();
  });
});
