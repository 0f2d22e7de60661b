import { describe, expect, it } from 'vitest';
import { createPendingSignIns } from '../../../../src/console/login/oidc/pending.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

function bed() {
  const clock = virtualClock();
  let ids = 0;
  return { clock, pending: createPendingSignIns(clock, () => `id-${(ids += 1)}`) };
}
const checks = (state: string) => ({ state, nonce: 'n', verifier: 'v' });

describe('createPendingSignIns', () => {
  it('CON-27 gives the checks of a sign-in once, and only for its id', () => {
    const { pending } = bed();
    const [one, other] = [pending.add(checks('a')), pending.add(checks('b'))];
    expect([pending.take('id-3'), pending.take(undefined)]).toEqual([undefined, undefined]);
    expect(pending.take(one)).toEqual(checks('a'));
    expect(pending.take(one)).toBeUndefined();
    expect(pending.take(other)).toEqual(checks('b'));
  });

  it('CON-27 ends a sign-in after ten minutes', async () => {
    const { clock, pending } = bed();
    const [early, late] = [pending.add(checks('a')), pending.add(checks('b'))];
    await clock.advance(599_999);
    expect(pending.take(early)).toBeDefined();
    await clock.advance(1);
    expect(pending.take(late)).toBeUndefined();
  });

  it('CON-25 keeps five thousand, and the oldest gives its place', () => {
    const { pending } = bed();
    const ids = Array.from({ length: 5001 }, (_, index) => pending.add(checks(String(index))));
    expect(pending.take(ids[0])).toBeUndefined();
    expect(pending.take(ids[1])).toEqual(checks('1'));
  });
});
