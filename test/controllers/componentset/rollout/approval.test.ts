import { describe, expect, it } from 'vitest';
import type { Rollout } from '../../../../src/api/generated/types.ts';
import { revisionOf } from '../../../../src/controllers/componentset/revision/resolve.ts';
import { approvalReason } from '../../../../src/controllers/componentset/rollout/approval.ts';
import { ROLLOUT } from '../component-set.ts';

const gate = (approval: Rollout['gate']['approval']): Pick<Rollout, 'gate'> => ({
  gate: { ...ROLLOUT.gate, approval },
});
const REVISION = revisionOf([
  { name: 'web', componentRef: 'web-2.2.0', digest: 'd', state: 'Present', parameters: {} },
]);
const held = { canary: { count: 1, hold: true } };

describe('approvalReason', () => {
  it.each<[what: string, rollout: Partial<Rollout>, batch: number, isNeeded: boolean]>([
    ['no approval', {}, 0, false],
    ['the first batch', gate('FirstBatch'), 0, true],
    ['a batch after the first', gate('FirstBatch'), 1, false],
    ['every batch', gate('EveryBatch'), 3, true],
    ['a canary on hold', held, 0, true],
    ['a batch after the canary', held, 1, false],
    ['a canary without hold', { canary: { count: 1, hold: false } }, 0, false],
    [
      'an approval through this batch',
      { ...gate('EveryBatch'), approved: { revision: REVISION.name, throughBatch: 3 } },
      3,
      false,
    ],
    [
      'an approval through an earlier batch',
      { ...gate('EveryBatch'), approved: { revision: REVISION.name, throughBatch: 2 } },
      3,
      true,
    ],
    ['an approval of another revision', { ...held, approved: { revision: 'x', throughBatch: 9 } }, 0, true],
  ])('ROL-02 waits for approval, or not: %s', (_what, rollout, batch, isNeeded) => {
    const its = { index: batch, isFirst: batch === 0 };
    expect(approvalReason({ ...ROLLOUT, ...rollout }, REVISION, its)?.reason).toBe(
      isNeeded ? 'ApprovalRequired' : undefined,
    );
  });

  it('ROL-02 waits for approval after batch 1 where no canary was started', () => {
    const first = { index: 1, isFirst: true };
    expect(approvalReason({ ...ROLLOUT, ...held }, REVISION, first)?.because).toMatch(
      /^batch 2 of web 2.2.0 waits/,
    );
  });
});
