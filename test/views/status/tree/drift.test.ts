import { describe, expect, it } from 'vitest';
import type { CorrectedObject } from '../../../../src/api/generated/types.ts';
import { driftLines, driftTitle } from '../../../../src/views/status/tree/drift.ts';
import { COMMIT, NOW } from '../../../cli/commands/builders.ts';

const AT = '2030-01-01T11:59:00Z';
const ROW: CorrectedObject = {
  object: 'ConfigMap web/a',
  change: 'Changed',
  fields: ['data.key'],
  managers: ['kubectl-edit'],
  foundAt: AT,
  correctedAt: AT,
  since: AT,
  count: 1,
  commit: COMMIT,
};

describe('driftLines', () => {
  it.each<[string, Partial<CorrectedObject>, readonly string[]]>([
    [
      'names the object, the field, the manager, the unit and the commit',
      { unit: 'web', changedAt: '2030-01-01T11:58:00Z' },
      [
        'ConfigMap web/a: changed, written back 60s ago',
        'data.key: by kubectl-edit 2m ago',
        'as in commit aaaaaaaaaaaa, unit web',
      ],
    ],
    [
      'does not guess who removed a field',
      { managers: [] },
      [
        'ConfigMap web/a: changed, written back 60s ago',
        'data.key: the server does not record by whom',
        'as in commit aaaaaaaaaaaa',
      ],
    ],
    [
      'counts what was corrected more than once, without a hint while it may be an accident',
      { count: 2, since: '2030-01-01T11:29:00Z' },
      [
        'ConfigMap web/a: changed, written back 60s ago, 2 times in 30m',
        'data.key: by kubectl-edit',
        'as in commit aaaaaaaaaaaa',
      ],
    ],
    [
      'says how to end a fight, with the managers in it',
      { count: 3, managers: ['a', 'b'] },
      [
        'ConfigMap web/a: changed, written back 60s ago, 3 times in 0s',
        'data.key: by a and b',
        'as in commit aaaaaaaaaaaa',
        'if it goes on: stop a and b, or remove these fields from git',
      ],
    ],
    [
      'says how to end a fight with an unknown manager',
      { count: 3, managers: [] },
      [
        'ConfigMap web/a: changed, written back 60s ago, 3 times in 0s',
        'data.key: the server does not record by whom',
        'as in commit aaaaaaaaaaaa',
        'if it goes on: stop the program that does it, or remove these fields from git',
      ],
    ],
    [
      'tells that an object was deleted',
      { change: 'Deleted', count: 3 },
      [
        'ConfigMap web/a: deleted, created again 60s ago, 3 times in 0s',
        'the server does not record who deleted it',
        'as in commit aaaaaaaaaaaa',
        'if it goes on: find who deletes it in the audit log of the API server',
      ],
    ],
  ])('%s', (_, change, expected) => {
    expect(driftLines({ ...ROW, ...change }, NOW)).toEqual(expected);
  });
});

describe('driftTitle', () => {
  it.each([
    [3, 'drift corrected'],
    [10_012, 'drift corrected (the last 2 objects of 10012 corrections)'],
  ])('of %d corrections is %s', (total, expected) => {
    expect(driftTitle({ total, objects: [ROW, { ...ROW, count: 2 }] })).toBe(expected);
  });
});
