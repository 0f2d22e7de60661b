import { describe, expect, it } from 'vitest';
import { explainProviderError } from '../../../src/cli/providers/error.ts';
import { ProviderError, type ProviderErrorCode } from '../../../src/providers/contract.ts';

describe('explainProviderError', () => {
  it.each<[ProviderErrorCode, number]>([
    ['Retryable', 69],
    ['Ambiguous', 69],
    ['Quota', 69],
    ['Auth', 77],
    ['Terminal', 65],
    ['NotFound', 65],
  ])('ends with the exit code of %s', (code, exitCode) => {
    expect(explainProviderError('Machine m1', new ProviderError(code, 'why'))).toMatchObject({
      exitCode,
      message: 'why',
      where: 'Machine m1',
    });
  });

  it('returns other errors as they are', () => {
    const other = new Error('x');
    expect(explainProviderError('Machine m1', other)).toBe(other);
  });
});
