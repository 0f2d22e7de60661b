import { describe, expect, it } from 'vitest';
import type { Condition } from '../../../src/kube/objects/conditions.ts';
import { hubChanges } from '../../../src/views/status/changes.ts';
import { type HubStatus, summarizeHub } from '../../../src/views/status/hub-status.ts';
import { COMMIT, cluster, NOW, pipeline } from '../../cli/commands/builders.ts';
import { condition } from '../../support/builders.ts';

const SOURCE_READY = condition('SourceReady', 'True');
const HELD = [SOURCE_READY, condition('Held', 'True', { message: 'prod soaks' })];
const UNSYNCED = 'nothing syncs pipeline fleet: host-1 last renewed it 20s ago';

function hub(
  states: Readonly<Record<string, string>>,
  conditions: readonly Condition[] = [SOURCE_READY],
  unsynced: readonly string[] = [],
): HubStatus {
  const clusters = Object.entries(states).map(([name, state]) =>
    cluster({ stage: 'prod', state, commit: COMMIT, message: `${state} until 2030-01-01T12:04:00.5Z` }, name),
  );
  const head = { commit: COMMIT, verdict: 'Accepted' };
  const waiting = { message: 'prod soaks' };
  return summarizeHub(
    { pipelines: [pipeline({ conditions, head, waiting })], clusters, releases: [] },
    { now: NOW, unsynced },
  );
}

const BEFORE = hub({ a: 'Applying', b: 'Applying', c: 'Applying' });

describe('hubChanges', () => {
  it('begins with everything, each state of several clusters once', () => {
    expect(hubChanges(undefined, BEFORE, NOW)).toEqual([
      'pipeline fleet: Promoting, head aaaaaaaaaaaa Accepted: prod soaks',
      'stage prod: 3 clusters a, b and c: Applying aaaaaaaaaaaa: Applying for another 4m',
    ]);
  });

  it('is silent when only time went by', () => {
    const later = new Date(NOW.getTime() + 60_000);
    expect(hubChanges(BEFORE, hub({ a: 'Applying', b: 'Applying', c: 'Applying' }), later)).toEqual([]);
    const since = hub({}, [SOURCE_READY], [UNSYNCED]);
    const now = hub({}, [SOURCE_READY], [UNSYNCED.replace('20s', '3m')]);
    expect(hubChanges(since, now, later)).toEqual([]);
  });

  it('groups clusters that changed in the same way, and leaves out those that did not', () => {
    expect(hubChanges(BEFORE, hub({ a: 'Soaking', b: 'Applying', c: 'Soaking' }), NOW)).toEqual([
      'stage prod: 2 clusters a and c: Soaking aaaaaaaaaaaa: Soaking for another 4m',
    ]);
  });

  it('reports a changed pipeline, and what was deleted', () => {
    const after = { ...hub({ a: 'Applying' }, HELD), pipelines: [] };
    expect(hubChanges(BEFORE, hub({ a: 'Applying', b: 'Applying', c: 'Applying' }, HELD), NOW)).toEqual([
      'pipeline fleet: Held, head aaaaaaaaaaaa Accepted: prod soaks',
    ]);
    expect(hubChanges(BEFORE, after, NOW)).toEqual([
      'pipeline fleet was deleted',
      'cluster b was deleted',
      'cluster c was deleted',
    ]);
  });

  it('reports that nothing syncs a pipeline, and the end of that', () => {
    const stopped = hub({}, [SOURCE_READY], [UNSYNCED]);
    expect(hubChanges(hub({}), stopped, NOW)).toEqual([UNSYNCED]);
    expect(hubChanges(stopped, hub({}), NOW)).toEqual(['every pipeline is synced again']);
  });

  it.each([
    ['Proven', 'False', 'Proven aaaaaaaaaaaa, not in sync: why'],
    ['Proven', 'Unknown', 'Proven aaaaaaaaaaaa, sync unknown: why'],
    ['Applying', 'False', 'Applying aaaaaaaaaaaa: why'],
  ])('tells of state %s whether it is in sync: %s', (state, synced, text) => {
    const status = hub({ a: state });
    const clusters = status.clusters.map((row) => ({ ...row, synced, because: 'why' }));
    expect(hubChanges(BEFORE, { ...status, clusters }, NOW)[0]).toContain(text);
  });
});
