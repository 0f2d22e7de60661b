import { describe, expect, it } from 'vitest';
import { preparePolicies } from '../../../src/defender/policies/prepare.ts';
import { acceptanceProblems } from '../../../src/defender/policies/unsupported.ts';
import { policy } from '../builders.ts';

describe('fields that this version does not act on', () => {
  it('R13 denies every ask while a policy in mode Enforce has such a field', () => {
    const blockers = { foreign: [], podLabels: ['gang'], minNodeAgeSeconds: 900, promql: [] };
    const wrong = policy({ blockers });
    expect(preparePolicies([wrong], acceptanceProblems).problems).toEqual(
      new Map([
        [
          'fleet-default',
          [
            'spec.blockers.podLabels[0]: not supported in this version, because other pods are not watched: use kubenode.dev/block=true',
          ],
        ],
      ]),
    );
    expect(preparePolicies([policy()], acceptanceProblems).valid).toHaveLength(1);
  });
});
