import { describe, expect, it } from 'vitest';
import { OsError } from '../../../src/os/errors.ts';
import { ProviderError } from '../../../src/providers/contract.ts';
import { toProviderError } from '../../../src/providers/local/errors.ts';

function systemError(code: string): Error {
  return Object.assign(new Error(`it failed: ${code}`), { code });
}

describe('toProviderError', () => {
  it.each<[name: string, error: unknown, code: string, reason: string]>([
    ['a full disk', systemError('ENOSPC'), 'Quota', 'Quota'],
    ['a disk quota', systemError('EDQUOT'), 'Quota', 'Quota'],
    ['too many processes', systemError('EAGAIN'), 'Quota', 'Quota'],
    ['too many open files', systemError('EMFILE'), 'Quota', 'Quota'],
    [
      'too little memory for a process',
      new OsError('Exited', 'x', { cause: systemError('ENOMEM') }),
      'Quota',
      'Quota',
    ],
    ['a folder of another user', systemError('EACCES'), 'Auth', 'Auth'],
    ['a read-only disk', systemError('EROFS'), 'Auth', 'Auth'],
    [
      'a program that does not exist',
      new OsError('Exited', 'x', { cause: systemError('ENOENT') }),
      'Terminal',
      'AgentMissing',
    ],
    [
      'a program that may not be run',
      new OsError('Exited', 'x', { cause: systemError('EACCES') }),
      'Terminal',
      'AgentMissing',
    ],
    ['a process that ended at once', new OsError('Exited', 'x'), 'Ambiguous', 'Ambiguous'],
    ['a process that does not end', new OsError('NotStopped', 'x'), 'Ambiguous', 'Ambiguous'],
    ['a machine without /proc', new OsError('Unsupported', 'x'), 'Terminal', 'Terminal'],
    ['anything else', systemError('EIO'), 'Ambiguous', 'Ambiguous'],
    ['what is not an error', 'text', 'Ambiguous', 'Ambiguous'],
    ['one of our errors', new ProviderError('NotFound', 'x'), 'NotFound', 'NotFound'],
  ])('takes %s for its code', (_, error, code, reason) => {
    expect(toProviderError(error, '/machines', 'Ambiguous')).toMatchObject({
      name: 'ProviderError',
      code,
      reason,
    });
  });

  it('keeps the cause, and its message', () => {
    const cause = systemError('EIO');
    expect(toProviderError(cause, '/machines', 'Retryable')).toMatchObject({
      code: 'Retryable',
      cause,
      message: cause.message,
    });
  });
});
