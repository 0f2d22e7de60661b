import { describe, expect, it } from 'vitest';
import { endsOf, settle } from '../../../../src/agent/component/transition/builders.ts';
import type { Transition } from '../../../../src/agent/journal/record.ts';
import { present } from '../../../support/agent/component-driver.ts';
import { componentInput, V1, V2 } from '../../../support/agent/component-input.ts';

const UPGRADE: Transition = {
  step: 'Fetching',
  entry: V2.id,
  direction: 'Forward',
  from: V1.id,
  to: V2.id,
  bootId: 'b',
  boots: 0,
};

describe('the ends of a transition', () => {
  it.each([
    ['Forward', V1, V2],
    ['Back', V2, V1],
  ] as const)('are swapped by the direction: %s', (direction, origin, goal) => {
    expect(endsOf(componentInput(), { ...UPGRADE, direction })).toEqual({ origin, goal });
  });

  it('includes a desired target that is not stored yet', () => {
    expect(endsOf({ targets: new Map(), desired: present(V2) }, UPGRADE)).toEqual({
      origin: undefined,
      goal: V2,
    });
  });
});

describe('the end of a transition', () => {
  it('keeps the last four targets in force before, newest first, without the current one', () => {
    const input = componentInput({}, { history: ['d', 'c', 'b', 'a'] });
    const plan = settle(input, { state: 'Committed', current: 'c', previous: 'e', because: 'healthy' });
    expect(plan.actions).toEqual([
      {
        type: 'Record',
        because: 'healthy',
        record: {
          type: 'Settled',
          component: 'proxy',
          at: input.now.toISOString(),
          state: 'Committed',
          current: 'c',
          history: ['e', 'd', 'b', 'a'],
        },
      },
    ]);
  });
});
