import { describe, expect, it } from 'vitest';
import { type ObjectId, objectIdOf } from '../../../src/kube/objects/object-id.ts';
import {
  type Acknowledgement,
  acknowledgementId,
  judgeDeletes,
  planDigestOf,
  type UnitDeletes,
} from '../../../src/sync/judge/delete-budget.ts';
import { configMap, namespace } from '../apply/fixtures.ts';

const BUDGET = { maxObjects: 3, maxPercent: 25 };

function deletesOf(count: number, of = 20, more: Partial<UnitDeletes> = {}): UnitDeletes {
  const deletes: ObjectId[] = Array.from({ length: count }, (_, index) => objectIdOf(configMap(`c${index}`)));
  return { unit: 'web', present: of, desired: of - count, deletes, ...more };
}

describe('judgeDeletes', () => {
  it.each<[name: string, deletes: UnitDeletes, held: boolean, because: string]>([
    ['allows a unit without deletes', deletesOf(0), false, '0 deletes, within the budget'],
    [
      'allows an empty unit that stays empty',
      deletesOf(0, 0, { desired: 0 }),
      false,
      '0 deletes, within the budget',
    ],
    ['allows deletes up to the percentage', deletesOf(5), false, '5 deletes, within the budget'],
    [
      'holds one more than the percentage',
      deletesOf(6),
      true,
      '6 of 20 objects of unit web would be deleted: the delete budget is 5',
    ],
    [
      'allows the number where the percentage is less',
      deletesOf(3, 8),
      false,
      '3 deletes, within the budget',
    ],
    [
      'holds one more than the number where the percentage is less',
      deletesOf(4, 8),
      true,
      '4 of 8 objects of unit web would be deleted: the delete budget is 3',
    ],
    [
      'holds a unit that renders to nothing, whatever the budget',
      deletesOf(1, 1),
      true,
      'unit web renders to nothing: 1 objects would be deleted',
    ],
    [
      'holds a protected object, whatever the budget',
      deletesOf(0, 20, { deletes: [objectIdOf(namespace('b')), objectIdOf(namespace('a'))] }),
      true,
      'protected objects would be deleted: Namespace a, Namespace b',
    ],
    [
      'holds a Pipeline: no revert would bring it back, because sync reads no further commit',
      deletesOf(0, 20, {
        deletes: [{ group: 'kubenode.dev', kind: 'Pipeline', namespace: '', name: 'fleet' }],
      }),
      true,
      'protected objects would be deleted: kubenode.dev/Pipeline fleet',
    ],
  ])('S2 holds the deletes of a unit beyond its budget: %s', (_name, deletes, held, because) => {
    expect(judgeDeletes(deletes, BUDGET, { declared: [], spent: [] })).toMatchObject({ held, because });
  });

  it('S2 releases a hold only for the acknowledged unit and plan', () => {
    const deletes = deletesOf(6);
    const planDigest = planDigestOf(deletes);
    const isHeld = (acknowledgement: Acknowledgement): boolean =>
      judgeDeletes(deletes, BUDGET, { declared: [acknowledgement], spent: [] }).held;
    expect(isHeld({ unit: 'web', planDigest })).toBe(false);
    expect(isHeld({ unit: 'other', planDigest })).toBe(true);
    expect(isHeld({ unit: 'web', planDigest: 'sha256:other' })).toBe(true);
    expect(isHeld({ unit: 'web', planDigest: planDigestOf(deletesOf(7)) })).toBe(true);
  });

  it('spends an acknowledgement once, and takes another reason as another acknowledgement', () => {
    const deletes = deletesOf(6);
    const declared = { unit: 'web', planDigest: planDigestOf(deletes), reason: 'ticket 7' };
    const first = judgeDeletes(deletes, BUDGET, { declared: [declared], spent: [] });
    const id = acknowledgementId(declared);
    expect(first).toMatchObject({ held: false, acknowledgedBy: id });
    const second = judgeDeletes(deletes, BUDGET, { declared: [declared], spent: [id] });
    expect(second.held).toBe(true);
    expect(second.because).toContain(
      'its acknowledgement is spent: to acknowledge it again, change the reason',
    );
    const again = { ...declared, reason: 'ticket 8' };
    expect(judgeDeletes(deletes, BUDGET, { declared: [declared, again], spent: [id] })).toMatchObject({
      held: false,
      acknowledgedBy: acknowledgementId(again),
    });
  });

  it('releases the rest of a plan of which a part was bound when the process ended', () => {
    const { deletes, ...rest } = deletesOf(6);
    const declared = [{ unit: 'web', planDigest: planDigestOf({ unit: 'web', deletes }) }];
    const bound = { ...rest, deletes: deletes.slice(4), acknowledged: deletes.slice(0, 4), desired: 0 };
    expect(judgeDeletes(bound, BUDGET, { declared, spent: [] }).held).toBe(false);
    expect(judgeDeletes({ ...bound, acknowledged: [] }, BUDGET, { declared, spent: [] }).held).toBe(true);
  });

  it('names the same plan for the same objects in any order', () => {
    const { unit, deletes } = deletesOf(6);
    expect(planDigestOf({ unit, deletes: deletes.toReversed() })).toBe(planDigestOf({ unit, deletes }));
    expect(planDigestOf({ unit: 'other', deletes })).not.toBe(planDigestOf({ unit, deletes }));
  });
});
