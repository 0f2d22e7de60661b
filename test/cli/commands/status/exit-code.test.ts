import { describe, expect, it } from 'vitest';
import { clusterExitCode, hubExitCode } from '../../../../src/cli/commands/status/exit-code.ts';
import { type HubStatus, summarizeHub } from '../../../../src/views/status/hub-status.ts';
import { condition } from '../../../support/builders.ts';
import { COMMIT, cluster, NOW, pipeline } from '../builders.ts';

const PROMOTED = [condition('SourceReady', 'True'), condition('Promoted', 'True')];
const UNHEALTHY = condition('MachinesReady', 'False', { message: '3 of 6 machines are unhealthy' });

interface Given {
  readonly state?: string;
  readonly machines?: 'unhealthy';
  readonly synced?: 'True' | 'Unknown';
  readonly isPromoted?: boolean;
  readonly unsynced?: readonly string[];
}

function statusOf({ state = 'Proven', machines, synced = 'True', isPromoted = true, unsynced = [] }: Given) {
  const conditions = [
    condition('Reachable', 'True'),
    condition('Synced', synced),
    ...(machines === undefined ? [condition('MachinesReady', 'True')] : [UNHEALTHY]),
    condition('Healthy', 'True'),
  ];
  const base = cluster({ state, message: 'why' });
  const assigned = { pipeline: 'fleet', mode: 'Apply' } as const;
  const head = { commit: COMMIT, verdict: 'Accepted' };
  const hub = {
    pipelines: [pipeline({ conditions: isPromoted ? PROMOTED : PROMOTED.slice(0, 1), head })],
    clusters: [{ ...base, status: { ...base.status, conditions, assigned } }],
    releases: [],
  };
  return summarizeHub(hub, { now: NOW, unsynced });
}

describe('hubExitCode', () => {
  it.each<[code: number, what: string, given: Given]>([
    [0, 'the commit is everywhere and all is healthy', {}],
    [2, 'the commit soaks', { state: 'Soaking', isPromoted: false }],
    [2, 'a cluster is paused', { state: 'Paused' }],
    [2, 'the last stage has not proven it', { isPromoted: false }],
    [2, 'it is not known whether a cluster is in sync', { synced: 'Unknown' }],
    [3, 'machines are unhealthy while the commit is everywhere', { machines: 'unhealthy' }],
    [3, 'machines are unhealthy while the commit soaks', { state: 'Soaking', machines: 'unhealthy' }],
    [3, 'machines are unhealthy while the commit is held', { state: 'Held', machines: 'unhealthy' }],
    [1, 'the commit failed', { state: 'Failed' }],
    [1, 'the commit is held', { state: 'Held' }],
    [
      1,
      'nothing syncs, however the machines were last',
      { machines: 'unhealthy', unsynced: ['nothing syncs'] },
    ],
  ])('is %i when %s', (code, _, given) => {
    expect(hubExitCode(statusOf(given))).toBe(code);
  });

  it('is 0 for a hub without pipelines and clusters', () => {
    const empty: HubStatus = summarizeHub({ pipelines: [], clusters: [], releases: [] }, { now: NOW });
    expect(hubExitCode(empty)).toBe(0);
  });
});

describe('clusterExitCode', () => {
  it.each<[code: number, given: Given]>([
    [0, {}],
    [0, { isPromoted: false }],
    [2, { state: 'Soaking' }],
    [3, { machines: 'unhealthy' }],
    [1, { state: 'Held' }],
    [1, { unsynced: ['nothing syncs'] }],
  ])('is %i for one cluster: %o', (code, given) => {
    const status = statusOf(given);
    expect(status.clusters.map((row) => clusterExitCode(row, status))).toEqual([code]);
  });
});
