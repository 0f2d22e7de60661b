import { expect, it } from 'vitest';
import { changedLines, fleetLines, type ShownLines } from '../../../src/demo/start/fleet-lines.ts';
import type { ClusterRow, HubStatus } from '../../../src/views/status/hub-status.ts';
import { HEALTHY } from '../../cli/commands/builders.ts';

function statusOf(...clusters: readonly Pick<ClusterRow, 'name' | 'state' | 'because'>[]): HubStatus {
  const pipeline = {
    name: 'fleet',
    phase: 'Promoting',
    head: 'aaaaaaaaaaaa',
    verdict: 'Accepted',
    because: 'test: soaks',
  };
  return {
    incidents: [],
    unsynced: [],
    pipelines: [pipeline],
    clusters: clusters.map((row) => ({
      ...row,
      stage: 'test',
      commit: 'aaaaaaaaaaaa',
      synced: 'True',
      ...HEALTHY,
    })),
    notes: [],
    trouble: [],
  };
}

const SYNC = { logFile: '/logs/sync.log' };
const APPLYING = { name: 'test', state: 'Applying', because: '0 of 2 machines' };
const WAITING = { name: 'pre', state: 'Pending', because: 'stage pre has no commit yet' };

it('has a line for each pipeline and cluster', () => {
  expect([...fleetLines(statusOf(APPLYING, WAITING), SYNC).values()]).toEqual([
    '  pipeline fleet   Promoting     aaaaaaaaaaaa',
    '  test             Applying      aaaaaaaaaaaa  0 of 2 machines',
    '  pre              Pending       aaaaaaaaaaaa  stage pre has no commit yet',
  ]);
});

it('shows again only what changed', () => {
  const before = fleetLines(statusOf(APPLYING, WAITING), SYNC);
  expect(changedLines(before, before)).toEqual([]);
  const after = fleetLines(statusOf({ ...APPLYING, because: '1 of 2 machines' }, WAITING), SYNC);
  expect(changedLines(before, after)).toEqual([
    '  test             Applying      aaaaaaaaaaaa  1 of 2 machines',
  ]);
});

function unsyncedFor(seconds: number): ShownLines {
  const unsynced = [`nothing syncs pipeline fleet: renewed ${seconds}s ago. Start it: …`];
  return fleetLines({ ...statusOf(), unsynced }, SYNC);
}

it('begins with one line while sync starts again, however long that takes', () => {
  expect([...unsyncedFor(16).values()][0]).toBe(
    '  sync             Starting                    nothing syncs at present: this command starts sync again; its log: /logs/sync.log',
  );
  expect(changedLines(unsyncedFor(16), unsyncedFor(17))).toEqual([]);
});
