import { describe, expect, it } from 'vitest';
import { GitError, type GitErrorCode } from '../../../src/sync/git/errors.ts';
import { HostCallError } from '../../../src/sync/report/outcome.ts';
import { revertFailure } from '../../../src/sync/revert/failure.ts';

describe('revertFailure', () => {
  it.each<[GitErrorCode, string, boolean]>([
    ['Unauthorized', 'TokenRefused', false],
    ['NotFoundRepository', 'NotFound', false],
    ['PushRefused', 'Refused', false],
    ['BadUrl', 'Refused', false],
    ['ServerError', 'Unreachable', true],
    ['Timeout', 'Unreachable', true],
    ['Corrupt', 'Unreachable', true],
  ])('S35 explains that git answered %s', (code, reason, isTemporary) => {
    expect(revertFailure(new GitError(code, 'it failed', { where: 'w', hint: 'act' }))).toEqual({
      reason,
      message: 'w: it failed; act',
      isTemporary,
    });
  });

  it('S35 keeps what a server writes on one line that fits into a condition', () => {
    const { message } = revertFailure(new GitError('Corrupt', `a\nb${'x'.repeat(2000)}`)) ?? {};
    expect(message).toMatch(/^a\\nbx+/);
    expect(message?.length).toBeLessThanOrEqual(800);
  });

  it('S35 waits as long as the server asks', () => {
    expect(revertFailure(new GitError('ServerError', 'slow down', { retryAfterSeconds: 7 }))).toEqual({
      reason: 'RateLimited',
      message: 'slow down. Sync tries again',
      isTemporary: true,
      retryAfterSeconds: 7,
    });
  });

  it('S35 takes a failure of the host as it is, and leaves other errors alone', () => {
    const failure = { reason: 'Forbidden', message: 'no', isTemporary: false } as const;
    expect(revertFailure(new HostCallError(failure))).toBe(failure);
    expect(revertFailure(new Error('the hub does not answer'))).toBeUndefined();
  });
});
