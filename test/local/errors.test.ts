import { describe, expect, it } from 'vitest';
import { isLocalError, LocalError, toLocalError } from '../../src/local/errors.ts';
import { OsError, type OsErrorCode } from '../../src/os/errors.ts';

describe('toLocalError', () => {
  it.each<[OsErrorCode, string]>([
    [
      'DiskFull',
      'do this; choose another disk with --dir for the data, or with XDG_CACHE_HOME for the binaries',
    ],
    ['PortInUse', 'do this; choose another --port or --bind-address'],
    ['Exited', 'do this'],
  ])('adds the settings that avoid %s to the hint of an error of the operating system', (code, hint) => {
    const cause = new OsError(code, 'it failed', { where: '/x', hint: 'do this' });
    const error = toLocalError(cause);
    expect(error).toBeInstanceOf(LocalError);
    expect(error).toMatchObject({ code, message: 'it failed', where: '/x', hint, cause });
  });

  it('leaves our own errors and all others as they are', () => {
    for (const error of [new LocalError('PortInUse', 'x', { hint: 'y' }), new Error('z')]) {
      expect(toLocalError(error)).toBe(error);
    }
  });
});

describe('isLocalError', () => {
  it('accepts the errors of the operating system, whose codes are a subset', () => {
    expect(isLocalError(new OsError('DiskFull', 'x'), 'Build', 'DiskFull')).toBe(true);
    expect(isLocalError(new OsError('DiskFull', 'x'), 'Build')).toBe(false);
    expect(isLocalError(new Error('x'))).toBe(false);
  });
});
