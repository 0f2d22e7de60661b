import { describe, expect, it } from 'vitest';
import { concealBearer } from '../../../../src/console/login/members/conceal.ts';
import { KubeError } from '../../../../src/kube/client/errors.ts';

describe('concealBearer', () => {
  it('CON-33 replaces the tokens that were sent in errors, also the token before a renewal', async () => {
    const tokens = ['token-1', 'token-2'];
    const { bearer, conceal } = concealBearer(() => Promise.resolve(tokens.shift() ?? ''));
    expect([await bearer(), await bearer()]).toEqual(['token-1', 'token-2']);
    const error = conceal(
      new KubeError('Forbidden', 'got token-1 and token-2', { status: 403, cause: new Error('token-2') }),
    );
    expect(error).toMatchObject({ code: 'Forbidden', status: 403, message: 'got [token] and [token]' });
    expect((error as Error).cause).toBeUndefined();
    expect(conceal(new Error('token-1'))).toEqual(new Error('[token]'));
  });

  it('returns an error without a token as it is', async () => {
    const { bearer, conceal } = concealBearer(() => Promise.resolve('token-1'));
    const error = new KubeError('Unreachable', 'connection refused');
    expect(conceal(error)).toBe(error);
    await bearer();
    expect(conceal(error)).toBe(error);
  });
});
