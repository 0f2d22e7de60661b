import { describe, expect, it } from 'vitest';
import { planStatus } from '../../../../src/controllers/componentset/preview/plan-status.ts';
import { previewRollout } from '../../../../src/controllers/componentset/preview/preview.ts';
import { ago, condition, NOW } from '../../../support/builders.ts';
import { COMPLETED, inputOf, member } from '../rollout/rollout-input.ts';
import { denied, statusOf } from '../status/set-report.ts';

const MEMBERS = Array.from({ length: 100 }, (_, index) => member(`m-${index}`));
const FRESH = { progress: { history: [COMPLETED] } } as const;

describe('planStatus', () => {
  it('ROL-60 has at most 32 batches and the first 20 names', () => {
    const preview = previewRollout(inputOf({ members: MEMBERS, ...FRESH, rollout: { batches: [1] } }));
    const plan = planStatus(preview, undefined, NOW);
    expect(plan.batches).toEqual(Array.from({ length: 32 }, () => 1));
    expect(plan.firstMachines).toHaveLength(20);
    expect(plan).toMatchObject({ class: 'Restart', drains: 0, grants: 100 });
  });

  it('ROL-60 keeps the estimate and the begin of the wait while the plan is the same', () => {
    const input = inputOf({ members: MEMBERS, ...FRESH });
    const first = planStatus(previewRollout(input), undefined, NOW);
    const later = new Date(+NOW + 60_000);
    expect(planStatus(previewRollout({ ...input, now: later }), first, later)).toEqual(first);
    const blocked = planStatus(previewRollout(input, [denied('m-1')]), undefined, NOW);
    const still = planStatus(previewRollout({ ...input, now: later }, [denied('m-1')]), blocked, later);
    expect(still).toEqual(blocked);
    expect(still.wouldBlock).toMatchObject({ reason: 'GrantDenied', since: NOW.toISOString() });
  });
});

describe('componentSetStatus', () => {
  it('ROL-60 writes nothing but the plan in a dry run', () => {
    const before = {
      observedGeneration: 3,
      conditions: [condition('Ready', 'True')],
      updateRevision: 'r-old',
      history: [COMPLETED],
      waiting: { reason: 'Paused', since: ago(9) },
    };
    const { plan, ...rest } = statusOf({ members: MEMBERS, ...FRESH, dryRun: true, before });
    expect(rest).toEqual(before);
    expect(plan?.batches).toEqual([1, 5, 10, 50, 34]);
  });

  it('ROL-60 has no plan of an earlier dry run while it rolls out', () => {
    const before = { plan: { grants: 5 } };
    expect(statusOf({ members: MEMBERS, ...FRESH, before }).plan).toBeUndefined();
  });
});
