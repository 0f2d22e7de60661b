import { describe, expect, it } from 'vitest';
import { GitError } from '../../../../src/sync/git/errors.ts';
import { receivedTokens, withAccess } from '../../../../src/sync/git/worker/access.ts';
import type { GitAccess, GitMethod } from '../../../../src/sync/git/worker/protocol.ts';

function createTokens(get = () => Promise.resolve('user:token')) {
  const refused: string[] = [];
  return { get, refused: (credential: string) => void refused.push(credential), list: refused };
}

const accessFor = (method: GitMethod, tokens = createTokens()): Promise<GitAccess | undefined> =>
  withAccess(tokens, { method, signal: undefined }, (access) => Promise.resolve(access));

describe('the token of a call to the git worker', () => {
  it.each<[method: GitMethod, access: object | undefined]>([
    ['fetch', { credential: 'user:token' }],
    ['deepen', { credential: 'user:token' }],
    ['ancestry', { credential: 'user:token' }],
    ['signatures', { credential: 'user:token' }],
    ['ensure', { credential: 'user:token' }],
    ['has', undefined],
    ['files', undefined],
    ['exportTree', undefined],
  ])('SAF-8 is sent with %s only if that may use the network', async (method, access) => {
    expect(await accessFor(method)).toEqual(access);
  });

  it('is an error for a worker that needs it, with its code and its message', async () => {
    const error = new GitError('Unreachable', 'no answer', { where: 'x', retryAfterSeconds: 7 });
    const access = structuredClone(
      await accessFor(
        'fetch',
        createTokens(() => Promise.reject(error)),
      ),
    );
    await expect(receivedTokens(() => access).get()).rejects.toMatchObject({
      code: 'Unreachable',
      message: error.message,
      retryAfterSeconds: 7,
    });
  });

  it('is that of the last call, and missing before the first', async () => {
    let access: GitAccess | undefined;
    const tokens = receivedTokens(() => access);
    await expect(tokens.get()).rejects.toThrow('no token was received');
    access = { credential: 'user:next' };
    expect(await tokens.get()).toBe('user:next');
  });

  it.each<[method: GitMethod, error: Error, refused: readonly string[]]>([
    ['fetch', new GitError('Timeout', 'slow'), []],
    ['has', new GitError('Unauthorized', 'no'), []],
    ['fetch', new GitError('Unauthorized', 'no'), ['user:token']],
  ])('is noted as refused for that answer of the server alone: %s, %s', async (method, error, refused) => {
    const tokens = createTokens();
    const call = withAccess(tokens, { method, signal: undefined }, () => Promise.reject(error));
    await expect(call).rejects.toBe(error);
    expect(tokens.list).toEqual(refused);
  });
});
