import { describe, expect, it } from 'vitest';
import type { MachineRemedyWait, RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { isAffected, worstShare } from '../../../../src/rules/facts/reading/affected.ts';
import { machine, NOW } from '../../../support/builders.ts';
import { type JobParts, remedyJob } from '../../../support/remediers.ts';

const POINT = { ms: 0, at: NOW };
const QUERY = { faultClass: 'GPU', windowSeconds: 3600 } as const;

function wait(faultClass?: MachineRemedyWait['faultClass'], reason = 'GateClosed'): MachineRemedyWait {
  return { rule: 'gpu', reason, since: '2026-01-01T00:00:00Z', ...(faultClass && { faultClass }) };
}

function job(parts: JobParts, faultClass: RemedyOperationJob['spec']['cause']['faultClass'] = 'GPU') {
  const { spec, ...rest } = remedyJob({ machine: 'm-1', ...parts });
  return { ...rest, spec: { ...spec, cause: { ...spec.cause, faultClass } } };
}

const ended = (begun: number): JobParts => ({ begun, ended: begun - 60, outcome: 'Succeeded' });

const ROWS: readonly [string, boolean, readonly MachineRemedyWait[], readonly RemedyOperationJob[]][] = [
  ['without waits and jobs', false, [], []],
  ['a rule of the class waits', true, [wait('GPU')], []],
  ['a rule of the class cannot decide', true, [wait('GPU', 'Indeterminate')], []],
  ['a rule of another class waits', false, [wait('Disk')], []],
  ['a wait of an earlier version, without a class', true, [wait()], []],
  ['a repair that began within the window', true, [], [job(ended(3600))]],
  ['a repair that began before the window', false, [], [job(ended(3601))]],
  ['a repair that began before the window, and is at work', true, [], [job({ begun: 9000 })]],
  ['a repair of another class', false, [], [job({ begun: 60 }, 'Disk')]],
  ['one of several', true, [wait('Disk')], [job(ended(9000)), job(ended(60))]],
];

describe('isAffected', () => {
  it.each(ROWS)(
    'R21 decides about a machine by its waits and repairs: %s',
    (_, affected, remedyWaits, jobs) => {
      const its = machine('m-1', { metadata: { uid: 'uid-m-1' }, status: { remedyWaits } });
      expect(isAffected(its, jobs, { query: QUERY, point: POINT })).toBe(affected);
    },
  );

  it('R21 does not count the repair of an earlier machine of the same name', () => {
    const its = machine('m-1', { metadata: { uid: 'uid-of-another' } });
    expect(isAffected(its, [job({ begun: 60 })], { query: QUERY, point: POINT })).toBe(false);
  });
});

describe('worstShare', () => {
  it('R21 has the highest ratio and the highest count, so that a rare version hides no fault of a common one', () => {
    const common = { affected: 300, total: 1000 };
    const rare = { affected: 1, total: 1 };
    expect(worstShare([common, rare])).toEqual({ affectedRatio: 1, affectedCount: 300 });
    expect(worstShare([rare, common])).toEqual({ affectedRatio: 1, affectedCount: 300 });
    expect(worstShare([common])).toEqual({ affectedRatio: 0.3, affectedCount: 300 });
  });

  it('R1 has none of no group, and divides by no empty one', () => {
    expect(worstShare([])).toBeUndefined();
    expect(worstShare([{ affected: 0, total: 0 }])).toEqual({ affectedRatio: 0, affectedCount: 0 });
  });
});
