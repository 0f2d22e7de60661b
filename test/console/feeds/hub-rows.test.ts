import { describe, expect, it } from 'vitest';
import { hubRows, loneCluster } from '../../../src/console/feeds/hub-rows.ts';
import type { HubStatus } from '../../../src/views/status/hub-status.ts';

const CLUSTER = {
  name: 'test',
  pipeline: 'fleet',
  stage: 'test',
  commit: '0123456789abcdef',
  state: 'Applying',
  synced: 'True',
  health: 'Unhealthy',
  machines: { total: 6, ready: 3 },
  because: 'one\n  two',
} as const;

const ROW = { ...CLUSTER, incidents: [] };

const STATUS: HubStatus = {
  unsynced: ['nothing syncs pipeline fleet'],
  pipelines: [
    {
      name: 'fleet',
      phase: 'Promoting',
      head: '0123456789abcdef',
      verdict: 'Accepted',
      because: 'test: Applying',
    },
  ],
  incidents: [],
  clusters: [ROW, { ...ROW, name: 'prod', stage: 'prod', since: '2030-01-01T00:00:00Z' }],
  notes: ['a note'],
  trouble: ['Cluster prod: failed'],
};

describe('hubRows', () => {
  it('keeps the order of the stages, and names what keeps a cluster from being shown', () => {
    const { clusters } = hubRows(STATUS, new Map([['prod', 'no context prod']]));
    expect(clusters).toEqual({
      test: { ...CLUSTER, order: 0, commit: '0123456789ab', because: 'one; two' },
      prod: {
        ...CLUSTER,
        name: 'prod',
        stage: 'prod',
        order: 1,
        commit: '0123456789ab',
        because: 'one; two',
        since: '2030-01-01T00:00:00Z',
        stale: 'no context prod',
      },
    });
  });

  it('distinguishes what needs a person from notes', () => {
    const { notes } = hubRows(STATUS, new Map());
    expect(Object.values(notes).map(({ text, bad }) => [text, bad])).toEqual([
      ['a note', false],
      ['nothing syncs pipeline fleet', true],
      ['Cluster prod: failed', true],
    ]);
  });

  it('marks as incidents what nothing syncs and what the Defender of a cluster reports, and no other trouble', () => {
    const incident = {
      reason: 'NoControllers',
      message: 'no controllers run',
      since: '2030-01-01T00:00:00Z',
    } as never;
    const clusters = [{ ...ROW, incidents: [incident] }];
    const trouble = ['nothing syncs pipeline fleet', 'Cluster prod: failed'];
    const { notes } = hubRows({ ...STATUS, clusters, trouble }, new Map());
    const incidents = Object.values(notes).filter(({ isIncident }) => isIncident);
    expect(incidents.map(({ text }) => text)).toEqual([
      'nothing syncs pipeline fleet',
      expect.stringMatching(/^test: .*no controllers run/) as string,
    ]);
    expect(notes['Cluster prod: failed']).toEqual({ text: 'Cluster prod: failed', bad: true });
  });

  it('shows the commits by the names of their Releases', () => {
    const commit = { name: 'fleet-c1', pipeline: 'fleet', commit: 'c1', phase: 'Pending', stages: [] };
    expect(hubRows({ ...STATUS, commits: [commit] }, new Map()).commits).toEqual({ 'fleet-c1': commit });
    expect(hubRows(STATUS, new Map()).commits).toEqual({});
  });

  it('shows the pipeline with what it waits for', () => {
    expect(hubRows(STATUS, new Map()).pipelines['fleet']).toEqual({
      name: 'fleet',
      phase: 'Promoting',
      commit: '0123456789ab',
      verdict: 'Accepted',
      because: 'test: Applying',
    });
  });

  it('shows a cluster without a hub', () => {
    expect(loneCluster('here', 2, undefined)).toMatchObject({
      name: 'here',
      order: 2,
      because: 'no hub lists it',
    });
  });
});
