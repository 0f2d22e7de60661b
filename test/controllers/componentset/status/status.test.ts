import { describe, expect, it } from 'vitest';
import { componentSetStatus } from '../../../../src/controllers/componentset/status/status.ts';
import { ago, condition, NOW } from '../../../support/builders.ts';
import { member } from '../rollout/rollout-input.ts';
import { denied, reportOf, statusOf } from './set-report.ts';
import { DONE, FAILED, IN_WORK, STEADY } from './situations.ts';

describe('componentSetStatus', () => {
  it('reports the observed generation in the status and in every condition', () => {
    const status = statusOf({ members: [member('a', DONE)], progress: STEADY });
    expect(status.observedGeneration).toBe(7);
    expect(status.conditions.map(({ type }) => type)).toEqual([
      'Ready',
      'UpToDate',
      'Available',
      'GatesPassed',
      'Progressing',
      'Stalled',
      'Conflict',
      'DriftDetected',
    ]);
    expect(status.conditions.every(({ observedGeneration }) => observedGeneration === 7)).toBe(true);
  });

  it('keeps the time of a condition while its status is the same', () => {
    const before = { conditions: [condition('Ready', 'True'), condition('Stalled', 'True')] };
    const { conditions } = statusOf({ members: [member('a', DONE)], progress: STEADY, before });
    const times = new Map(conditions.map(({ type, lastTransitionTime }) => [type, lastTransitionTime]));
    expect(times.get('Ready')).toBe(ago(3600));
    expect(times.get('Stalled')).toBe(ago(0));
  });

  it('is the same when nothing happens, so that nothing is written', () => {
    const parts = { members: [member('a', IN_WORK), member('b')], denials: [denied('b')] };
    const before = statusOf(parts);
    const later = new Date(+NOW + 30_000);
    expect(statusOf({ ...parts, before, now: later })).toEqual(before);
  });

  it('never depends on the order of the machines', () => {
    const members = [member('a', IN_WORK), member('b', FAILED), member('c')];
    const one = reportOf({ members });
    const other = { ...one, input: { ...one.input, members: members.toReversed() } };
    expect(componentSetStatus(other)).toEqual(componentSetStatus(one));
  });
});
