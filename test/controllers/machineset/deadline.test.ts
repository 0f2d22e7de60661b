import { describe, expect, it } from 'vitest';
import { scalingDeadline } from '../../../src/controllers/machineset/deadline.ts';
import { NOW } from '../../support/builders.ts';
import { machineSet, template } from '../../support/machine-sets.ts';

const SET = machineSet(1, {
  spec: {
    template: template({
      deletion: { drain: 'Respect', drainTimeoutSeconds: 60, timeoutSeconds: 7200, cleanup: 'Restore' },
    }),
  },
});

describe('scalingDeadline', () => {
  it.each([
    ['GrantDenied', 60],
    ['MachinesHeld', 60],
    ['Overshoot', 60],
    ['Paused', undefined],
    ['StormGuardActive', 60],
  ])('MAC-04 of %s is %s s after its begin', (reason, seconds) => {
    const deadline = scalingDeadline(SET, { reason, since: NOW.toISOString() });
    expect(deadline && (Number(deadline) - Number(NOW)) / 1000).toBe(seconds);
  });

  it('is undefined while nothing is waited for', () => {
    expect(scalingDeadline(SET, undefined)).toBeUndefined();
  });
});
