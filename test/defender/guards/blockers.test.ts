/** R23: what a policy names and that is not observed denies under that policy, and under no other. */
import { describe, expect, it } from 'vitest';
import type { DefenderPolicySpec } from '../../../src/api/generated/types.ts';
import { decideScene, explain, machineFacts, machines, policy } from '../builders.ts';

const LEASE = 'medik8s-leases/node-{node}';
const LABEL = 'app=database';

function decided(blockers: Partial<DefenderPolicySpec['blockers']>, unobserved: readonly string[]): string {
  const facts = { ...machineFacts('m-1'), foreignLeases: [], blockingPods: {}, unobserved };
  const spec = { blockers: { foreign: [], podLabels: [], minNodeAgeSeconds: 0, promql: [], ...blockers } };
  return explain(decideScene({ policies: [policy(spec)], machines: [facts, ...machines(10).slice(1)] }));
}

describe('a sign that is not observed', () => {
  it.each([
    [
      'Leases',
      { foreign: [{ taint: 't' }, { lease: LEASE }] },
      LEASE,
      `Leases ${LEASE} of another tool are not observed`,
    ],
    ['Pods', { podLabels: ['other', LABEL] }, LABEL, `Pods with label ${LABEL} are not observed`],
  ])('R23 denies under a policy that names it, with its name: %s', (_, blockers, sign, expected) => {
    expect(decided(blockers, [sign])).toContain(`FactUnknown [fleet-default]: ${expected}`);
    expect(decided(blockers, [sign])).toContain('policies name more than 32');
    expect(decided(blockers, [])).toBe('granted');
  });

  it('R23 denies nothing under a policy that does not name it', () => {
    expect(decided({ foreign: [{ taint: 't' }], podLabels: ['other'] }, [LEASE, LABEL])).toBe('granted');
  });
});
