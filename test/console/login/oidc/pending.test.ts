import { describe, expect, it } from 'vitest';
import { createPendingSignIns } from '../../../../src/console/login/oidc/pending.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const CHECKS = { state: 's'.repeat(43), nonce: 'n'.repeat(43), verifier: 'v'.repeat(43) };

describe('createPendingSignIns', () => {
  it('CON-27 gives the checks of a sign-in to the browser that has its cookie, and to no other', () => {
    const pending = createPendingSignIns(virtualClock());
    const value = pending.seal(CHECKS);
    expect(value).toMatch(/^[\w-]{16,512}$/);
    expect(value).not.toContain('vvv');
    expect(pending.read(value)).toEqual(CHECKS);
    expect(pending.seal(CHECKS)).not.toBe(value);
  });

  it.each([
    ['none', () => undefined],
    ['an empty one', () => ''],
    ['one that is cut', (value: string) => value.slice(0, -4)],
    [
      'one with another byte',
      (value: string) => `${value.slice(0, 60)}${value[60] === 'A' ? 'B' : 'A'}${value.slice(61)}`,
    ],
    ['one of another process', () => createPendingSignIns(virtualClock()).seal(CHECKS)],
  ])('CON-27 gives nothing for a cookie that is %s', (_, forge) => {
    const pending = createPendingSignIns(virtualClock());
    expect(pending.read(forge(pending.seal(CHECKS)))).toBeUndefined();
  });

  it('CON-27 ends a sign-in after ten minutes', async () => {
    const clock = virtualClock();
    const pending = createPendingSignIns(clock);
    const value = pending.seal(CHECKS);
    await clock.advance(599_999);
    expect(pending.read(value)).toEqual(CHECKS);
    await clock.advance(1);
    expect(pending.read(value)).toBeUndefined();
  });

  it('CON-25 keeps nothing of a sign-in that was begun: thousands push out none', () => {
    const pending = createPendingSignIns(virtualClock());
    const value = pending.seal(CHECKS);
    for (let begun = 0; begun < 5001; begun += 1) pending.seal(CHECKS);
    expect(pending.read(value)).toEqual(CHECKS);
  });
});
