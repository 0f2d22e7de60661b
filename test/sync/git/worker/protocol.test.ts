import { describe, expect, it } from 'vitest';
import { GitError } from '../../../../src/sync/git/errors.ts';
import { errorFrom, fieldsOf } from '../../../../src/sync/git/worker/protocol.ts';

describe('an error that a worker sends', () => {
  it.each<[what: string, error: Error]>([
    ['a GitError', new GitError('TooLarge', 'too large', { where: 'file:///x', hint: 'remove it' })],
    [
      'a GitError with all details',
      new GitError('ServerError', 'busy', { retryAfterSeconds: 7, cause: new Error('429') }),
    ],
    ['an error of the file system', Object.assign(new Error('exists'), { code: 'EEXIST', path: '/x/a' })],
    ['any other error', new TypeError('not a function')],
  ])('keeps what it tells: %s', (_, error) => {
    const received = errorFrom(structuredClone(fieldsOf(error)));
    expect(fieldsOf(received)).toEqual(fieldsOf(error));
    expect(received instanceof GitError).toBe(error instanceof GitError);
    expect((received.cause as Error | undefined)?.message).toBe((error.cause as Error | undefined)?.message);
  });

  it('takes what is not an error by its text', () => {
    expect(errorFrom(fieldsOf('text')).message).toBe('text');
  });
});
