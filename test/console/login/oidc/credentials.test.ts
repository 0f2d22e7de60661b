import { describe, expect, it } from 'vitest';
import { createOidcCredentials } from '../../../../src/console/login/oidc/credentials.ts';
import type { IssuedTokens } from '../../../../src/console/login/oidc/issuer.ts';
import { RenewalRefused } from '../../../../src/console/login/oidc/renewal-refused.ts';
import { virtualClock } from '../../../support/virtual-clock.ts';

const HOUR_MS = 3_600_000;

function bed() {
  const clock = virtualClock();
  const asked: (string | undefined)[] = [];
  const state: { error: Error | undefined } = { error: undefined };
  const tokens = (number: number): IssuedTokens => ({
    idToken: `t-${number}`,
    subject: 'anna',
    endsAt: new Date(clock.now().getTime() + HOUR_MS),
    refreshToken: `r-${number}`,
  });
  const credentials = createOidcCredentials(tokens(0), {
    clock,
    createId: () => 'random',
    issuer: {
      async renew({ refreshToken: from }) {
        asked.push(from);
        await Promise.resolve();
        if (state.error) throw state.error;
        return tokens(asked.length);
      },
    },
  });
  return { clock, asked, state, credentials };
}

describe('createOidcCredentials', () => {
  it('CON-27 uses a token until a fifth of its time is left, and then renews it once for all calls', async () => {
    const { clock, asked, credentials } = bed();
    await clock.advance(0.8 * HOUR_MS - 1);
    expect([await credentials.bearer(), asked]).toEqual(['t-0', []]);
    await clock.advance(1);
    expect(await Promise.all([credentials.bearer(), credentials.bearer()])).toEqual(['t-1', 't-1']);
    await clock.advance(0.8 * HOUR_MS);
    expect([await credentials.bearer(), asked]).toEqual(['t-2', ['r-0', 'r-1']]);
  });

  it('ends with its token when the issuer renews none', async () => {
    const { clock, asked, credentials } = bed();
    expect(credentials.endsAt).toBeUndefined();
    const without = createOidcCredentials(
      { idToken: 't', subject: 'anna', endsAt: new Date(clock.now().getTime() + 1000) },
      { clock, createId: () => 'random', issuer: { renew: () => Promise.reject(new RenewalRefused()) } },
    );
    expect(without.endsAt).toEqual(new Date(clock.now().getTime() + 1000));
    await clock.advance(HOUR_MS);
    expect([await without.bearer(), asked]).toEqual(['t', []]);
  });

  it('CON-27 is refused at once when the issuer refuses to renew it', async () => {
    const { clock, state, credentials } = bed();
    state.error = new RenewalRefused();
    await clock.advance(0.8 * HOUR_MS);
    await expect(credentials.bearer()).rejects.toMatchObject({ code: 'Unauthorized' });
    await expect(credentials.bearer()).rejects.toMatchObject({ code: 'Unauthorized' });
  });

  it('keeps its token while the issuer cannot be asked, and asks again every ten seconds', async () => {
    const { clock, asked, state, credentials } = bed();
    state.error = new Error('connect ECONNREFUSED');
    await clock.advance(0.8 * HOUR_MS);
    expect([await credentials.bearer(), await credentials.bearer()]).toEqual(['t-0', 't-0']);
    expect(asked).toHaveLength(1);
    await clock.advance(10_000);
    state.error = undefined;
    expect([await credentials.bearer(), asked.length]).toEqual(['t-2', 2]);
  });
});
