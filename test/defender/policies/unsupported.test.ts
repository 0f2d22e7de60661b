import { describe, expect, it } from 'vitest';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { acceptanceProblems } from '../../../src/defender/policies/unsupported.ts';
import { breaker, policy } from '../builders.ts';

describe('fields that this version does not act on', () => {
  it('R13 denies every ask while a policy in mode Enforce has such a field', () => {
    const wrong = policy({
      breakers: [breaker({ name: 'storm', type: 'CommonCause', per: 'Zone', dimensions: ['zone'] })],
    });
    expect(preparePolicies([wrong], acceptanceProblems).problems).toEqual(
      new Map([
        [
          'fleet-default',
          [
            'spec.breakers[0].per: not supported in this version, because a common cause is searched in the whole cluster: use Cluster',
          ],
        ],
      ]),
    );
    expect(preparePolicies([policy()], acceptanceProblems).valid).toHaveLength(1);
  });
});
