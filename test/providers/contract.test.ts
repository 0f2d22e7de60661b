import { describe, expect, it } from 'vitest';
import { isProviderError, ProviderError } from '../../src/providers/contract.ts';

describe('ProviderError', () => {
  it('has its code as reason unless a better one is known', () => {
    expect(new ProviderError('Quota', 'no capacity').reason).toBe('Quota');
    expect(new ProviderError('Terminal', 'x', { reason: 'InvalidConfig' }).reason).toBe('InvalidConfig');
  });

  it('is told apart by its codes', () => {
    const error = new ProviderError('Retryable', 'throttled', { retryAfterSeconds: 3 });
    expect([isProviderError(error), isProviderError(error, 'Quota', 'Retryable')]).toEqual([true, true]);
    expect([isProviderError(error, 'Quota'), isProviderError(new Error('x'))]).toEqual([false, false]);
    expect(error.retryAfterSeconds).toBe(3);
  });
});
