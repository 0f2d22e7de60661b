import { expect, it } from 'vitest';
import { createShadowTally } from '../../../src/controllers/remedy/shadow.ts';

const RULE = { name: 'kernel-hang', digest: 'sha256:1' };
const NONE = { wouldAct: 0, wouldDeny: 0 };

it('counts each answer about a case once, on top of what earlier processes counted', () => {
  const tally = createShadowTally();
  expect(tally.count(RULE, 'a', 'Deny')).toBe(true);
  expect(tally.count(RULE, 'a', 'Deny')).toBe(false);
  expect(tally.count(RULE, 'a', 'Act')).toBe(true);
  expect(tally.count(RULE, 'b', 'Act')).toBe(true);
  const first = tally.counts(RULE, { wouldAct: 10, wouldDeny: 20 });
  expect(first).toEqual({ wouldAct: 12, wouldDeny: 21 });
  expect(tally.counts(RULE, first)).toEqual(first);
});

it('begins again with another version of the rule', () => {
  const tally = createShadowTally();
  tally.count(RULE, 'a', 'Act');
  const next = { ...RULE, digest: 'sha256:2' };
  expect(tally.counts(next, NONE)).toEqual(NONE);
  expect(tally.count(next, 'a', 'Act')).toBe(true);
});
