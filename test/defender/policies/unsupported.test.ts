import { describe, expect, it } from 'vitest';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { acceptanceProblems } from '../../../src/defender/policies/unsupported.ts';
import { policy } from '../builders.ts';

describe('fields that this version does not act on', () => {
  it('R13 denies every ask while a policy in mode Enforce has such a field', () => {
    const capacity = { minFreePercent: {}, simulateScheduling: false, replacementFirst: true };
    const wrong = policy({ capacity });
    expect(preparePolicies([wrong], acceptanceProblems).problems).toEqual(
      new Map([
        [
          'fleet-default',
          [
            'spec.capacity.replacementFirst: not supported in this version, because the Defender does not wait for a replacement: remove it',
          ],
        ],
      ]),
    );
    expect(preparePolicies([policy()], acceptanceProblems).valid).toHaveLength(1);
  });
});
