import { describe, expect, it } from 'vitest';
import type { Cluster } from '../../../src/api/generated/types.ts';
import { hostedNotes } from '../../../src/views/status/hosted-notes.ts';
import { NOW } from '../../support/builders.ts';
import { freeze, HOSTED, hostedCluster, window } from '../../support/hosting/objects.ts';

const SALE =
  'Cluster ci: changes of its control plane: now: freeze sale until 2030-01-02T12:00:00.000Z: sale';

function frozen(status: object = {}): Cluster {
  const upgrade = { ...HOSTED.upgrade, freezes: [freeze()] };
  return hostedCluster({ hosted: { upgrade }, status: { conditions: [], hosted: status } });
}

describe('the notes about hosted control planes', () => {
  it('tell until when it begins no change, and what it waits for', () => {
    const waiting = {
      reason: 'Freeze',
      message: 'the change is held',
      blocker: { kind: 'Cluster', name: 'ci' },
      since: '2030-01-01T12:00:00Z',
    };
    expect(hostedNotes(frozen({ waiting }), NOW)).toEqual([
      'Cluster ci: its control plane waits: Freeze: the change is held',
      SALE,
    ]);
  });

  it('tell of the closed times that a commit removed, once', () => {
    const closedTimes = { target: 'x', windows: [], freezes: [freeze()] };
    expect(hostedNotes(frozen({ closedTimes }), NOW)).toEqual([SALE]);
    const dropped = hostedCluster({ status: { conditions: [], hosted: { closedTimes } } });
    expect(hostedNotes(dropped, NOW)).toEqual([SALE]);
  });

  it('tell of the windows in force, and not of those that a commit moved them to', () => {
    const upgrade = { ...HOSTED.upgrade, windows: [window('03:00', '04:00')] };
    const closedTimes = { target: 'x', windows: [window('05:00', '06:00')], freezes: [] };
    const moved = hostedCluster({ hosted: { upgrade }, status: { conditions: [], hosted: { closedTimes } } });
    expect(hostedNotes(moved, NOW)).toEqual([
      'Cluster ci: changes of its control plane: now: outside of the windows (night): the next one opens at 2030-01-02T05:00:00.000Z',
    ]);
  });

  it('tell when a window opens', () => {
    const upgrade = { ...HOSTED.upgrade, windows: [window('03:00', '04:00')] };
    expect(hostedNotes(hostedCluster({ hosted: { upgrade } }), NOW)).toEqual([
      'Cluster ci: changes of its control plane: now: outside of the windows (night): the next one opens at 2030-01-02T03:00:00.000Z',
    ]);
  });

  it('are none for a cluster that is not hosted, or waits for nothing', () => {
    const { hosted: _hosted, ...spec } = hostedCluster().spec;
    expect(hostedNotes({ ...hostedCluster(), spec }, NOW)).toEqual([]);
    expect(hostedNotes(hostedCluster(), NOW)).toEqual([]);
  });
});
