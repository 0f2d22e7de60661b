import { describe, expect, it } from 'vitest';
import type { ClusterPlan } from '../../../src/sync/promote/cluster/plan.ts';
import { recordClusterChange, recordReleaseChange } from '../../../src/sync/promote/events.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { clusterOf, memberOf, releaseOf } from './builders.ts';

const BEFORE = { state: 'Applying', commit: 'c1' } as const;

function planWith(sync: ClusterPlan['sync']): ClusterPlan {
  return {
    name: 'x',
    stage: 'prod',
    member: memberOf({ snapshot: { cluster: clusterOf({}, BEFORE) } }),
    sync,
    target: { mode: 'Apply', pipeline: 'fleet', because: '' },
    starts: false,
    why: { reason: 'Reason', because: 'a sentence' },
  };
}

function recorded(record: (events: Parameters<typeof recordClusterChange>[0]) => void): readonly string[] {
  const log = memoryLog();
  const events: string[] = [];
  record({
    log,
    recordEvent: (_, { type, reason, message }) => events.push(`${type} ${reason}: ${message}`),
  });
  expect(log.lines.length).toBe(events.length);
  return events;
}

describe('recordClusterChange', () => {
  it.each<[name: string, sync: ClusterPlan['sync'], expected: readonly string[]]>([
    ['nothing without a change', BEFORE, []],
    ['a new state', { ...BEFORE, state: 'Soaking' }, ['Normal SyncSoaking: c1: a sentence']],
    ['a new commit', { ...BEFORE, commit: 'c2' }, ['Normal SyncApplying: c2: a sentence']],
    ['a failure as a warning', { ...BEFORE, state: 'Failed' }, ['Warning SyncFailed: c1: a sentence']],
    [
      'a skipped cluster as a warning',
      { ...BEFORE, state: 'Skipped' },
      ['Warning SyncSkipped: c1: a sentence'],
    ],
  ])('records %s', (_, sync, expected) => {
    expect(recorded((events) => recordClusterChange(events, planWith(sync)))).toEqual(expected);
  });
});

describe('recordReleaseChange', () => {
  it('records each stage with a new state, and why it waits', () => {
    const release = releaseOf('c1', 'test=Promoting prod=Pending');
    const { stages = [] } = releaseOf('c1', 'test=Proven prod=Waiting').status ?? {};
    const clusters = { total: 3, proven: 2, failed: 1 };
    const waiting = { reason: 'StageBusy', since: '', message: 'stage prod is busy with fleet-c0' };
    const status = {
      conditions: [],
      stages: stages.map((each) => (each.name === 'prod' ? { ...each, waiting } : { ...each, clusters })),
    };
    expect(recorded((events) => recordReleaseChange(events, { release, status }))).toEqual([
      'Normal SyncProven: stage test: proven on 2 of 3 clusters',
      'Normal SyncWaiting: stage prod: stage prod is busy with fleet-c0',
    ]);
    expect(
      recorded((events) => recordReleaseChange(events, { release: { ...release, status }, status })),
    ).toEqual([]);
  });

  it.each([
    ['test=Proven', 'proven: the stage has no cluster'],
    ['test=Superseded', 'replaced by fleet-c2'],
    ['test=Promoting', 'started'],
  ])('explains %s as: %s', (stages, because) => {
    const { status = { conditions: [] } } = releaseOf('c1', stages);
    const update = { release: releaseOf('c1'), status: { ...status, supersededBy: 'fleet-c2' } };
    const [event = ''] = recorded((events) => recordReleaseChange(events, update));
    expect(event.split('stage test: ')[1]).toBe(because);
  });
});
