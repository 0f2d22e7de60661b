import { describe, expect, it } from 'vitest';
import type { ClusterRows } from '../../../src/console/feeds/cluster-feed.ts';
import { createClusterMerge } from '../../../src/console/feeds/cluster-merge.ts';
import { mergeRows as mergeRowsWith } from '../../../src/console/feeds/source.ts';
import { NO_STATE } from '../../../src/console/state/state.ts';
import { unreadParts } from '../../../src/console/state/unread.ts';
import type { LiveFeed } from '../../../src/kube/cache/live-feed.ts';
import type { HubStatus } from '../../../src/views/status/hub-status.ts';
import { HEALTHY } from '../../cli/commands/builders.ts';
import { fleetPolicyCard } from '../fixtures.ts';

function feedOf<State>(state: State, stale?: string): LiveFeed<State> {
  return {
    current: () => state,
    staleReason: () => stale,
    subscribe: () => undefined,
    run: () => Promise.resolve(),
    ready: () => Promise.resolve(),
  };
}

function rowsOf(...keys: readonly string[]): ClusterRows {
  return { ...NO_STATE, machines: Object.fromEntries(keys.map((key) => [key, { p: 'Ready' }])) };
}

function hubOf(...names: readonly string[]): HubStatus {
  const clusters = names.map((name) => ({
    name,
    stage: name,
    commit: 'abc',
    state: 'Proven',
    synced: 'True',
    ...HEALTHY,
    because: '',
  }));
  return { incidents: [], clusters, pipelines: [], unsynced: [], notes: [], trouble: [] };
}

const home = (rows: ClusterRows) => ({ name: 'hub', server: 'https://hub', feed: feedOf(rows) });
const mergeRows = (sources: Parameters<typeof mergeRowsWith>[0]) =>
  mergeRowsWith(sources, createClusterMerge());
const NO_MEMBERS = { list: () => [], missingReason: () => undefined };

describe('mergeRows', () => {
  it('shows the machines of each cluster that the hub lists and the kubeconfig has', () => {
    const members = {
      list: () => [
        { name: 'test', server: 'https://test', feed: feedOf(rowsOf('test/m-1')) },
        {
          name: 'prod',
          server: 'https://prod',
          feed: feedOf(rowsOf('prod/m-1'), 'retrying: connection refused'),
        },
      ],
      missingReason: (name: string) => (name === 'pre' ? 'no context pre' : undefined),
    };
    const state = mergeRows({ home: home(rowsOf()), hub: feedOf(hubOf('test', 'pre', 'prod')), members });
    expect(Object.keys(state.machines)).toEqual(['test/m-1', 'prod/m-1']);
    expect(Object.values(state.clusters).map(({ name, stale }) => [name, stale])).toEqual([
      ['test', undefined],
      ['pre', 'no context pre'],
      ['prod', 'retrying: connection refused'],
    ]);
  });

  it('shows the cluster of the context itself only if it has machines that no member shows', () => {
    const hub = feedOf(hubOf());
    expect(mergeRows({ home: home(rowsOf()), hub, members: NO_MEMBERS }).clusters).toEqual({});
    const own = mergeRows({ home: home(rowsOf('hub/m-1')), hub, members: NO_MEMBERS });
    expect([Object.keys(own.clusters), Object.keys(own.machines)]).toEqual([['hub'], ['hub/m-1']]);
    const same = { name: 'all', server: 'https://hub', feed: feedOf(rowsOf('all/m-1')) };
    const members = { ...NO_MEMBERS, list: () => [same] };
    const listed = mergeRows({ home: home(rowsOf('hub/m-1')), hub: feedOf(hubOf('all')), members });
    expect([Object.keys(listed.clusters), Object.keys(listed.machines)]).toEqual([['all'], ['all/m-1']]);
  });

  it('does not copy the machines of a single cluster', () => {
    const rows = rowsOf('hub/m-1');
    expect(mergeRows({ home: home(rows), hub: undefined, members: NO_MEMBERS }).machines).toBe(rows.machines);
  });

  it('shows a cluster without a hub alone, also without machines', () => {
    const state = mergeRows({ home: home(rowsOf()), hub: undefined, members: NO_MEMBERS });
    expect(Object.keys(state.clusters)).toEqual(['hub']);
  });

  it('shows why it does not know the machines of the cluster itself, unless the hub or a member explains it', () => {
    const forbidden = { name: 'hub', server: 'https://hub', feed: feedOf(rowsOf(), 'machines is forbidden') };
    const textsOf = (
      hub: LiveFeed<HubStatus>,
      members = NO_MEMBERS as Parameters<typeof mergeRows>[0]['members'],
    ) => Object.keys(mergeRows({ home: forbidden, hub, members }).notes);
    expect(textsOf(feedOf(hubOf()))).toEqual(['machines of hub: machines is forbidden']);
    expect(textsOf(feedOf(hubOf(), 'unreachable'))).toEqual(['hub: unreachable']);
    const same = { name: 'all', server: 'https://hub', feed: feedOf(rowsOf(), 'machines is forbidden') };
    expect(textsOf(feedOf(hubOf('all')), { ...NO_MEMBERS, list: () => [same] })).toEqual([]);
    // The card of the cluster explains it.
    expect(textsOf(feedOf(hubOf('hub')))).toEqual([]);
    const listed = mergeRows({ home: forbidden, hub: feedOf(hubOf('hub')), members: NO_MEMBERS });
    expect(listed.clusters['hub']?.stale).toBe('machines is forbidden');
  });

  it('shows the limits over clusters beside the hub', () => {
    const policies = [fleetPolicyCard('fleet')];
    const sources = { home: home(rowsOf()), hub: feedOf(hubOf('test')), members: NO_MEMBERS };
    const shown = mergeRows({ ...sources, fleetLimits: feedOf({ policies }) });
    expect(Object.values(shown.fleetPolicies)).toEqual(policies);
    expect(mergeRows(sources).fleetPolicies).toEqual({});
    // One unreachable server is explained once.
    const hub = feedOf(hubOf('test'), 'unreachable');
    const { notes } = mergeRows({ ...sources, hub, fleetLimits: feedOf({ policies }, 'unreachable') });
    expect(Object.keys(notes)).toEqual(['hub: unreachable']);
  });

  it('shows that a cluster is not read before it is connected, and that the hub is not before its first state', () => {
    const sources = { home: home(rowsOf()), members: NO_MEMBERS };
    expect(mergeRows({ ...sources, hub: feedOf(hubOf('test')) }).clusters['test']?.stale).toBe(
      'its machines are not read yet',
    );
    const hub = { ...feedOf(hubOf(), 'connection refused'), current: () => undefined };
    expect(unreadParts(mergeRows({ ...sources, hub }))).toEqual([
      { name: 'hub', reason: 'connection refused' },
    ]);
  });

  it('shows that the hub cannot be read, with its last state', () => {
    const hub = feedOf(hubOf('test'), 'retrying: connection refused');
    const { notes, clusters } = mergeRows({ home: home(rowsOf()), hub, members: NO_MEMBERS });
    expect(Object.values(notes)).toEqual([
      { text: 'hub: retrying: connection refused', bad: true, unread: 'hub' },
    ]);
    expect(Object.keys(clusters)).toEqual(['test']);
  });
});
