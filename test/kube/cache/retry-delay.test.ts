import { describe, expect, it } from 'vitest';
import { createRetryDelay } from '../../../src/kube/cache/retry-delay.ts';
import { KubeError, type KubeErrorCode } from '../../../src/kube/client/errors.ts';

const options = { clock: { monotonicMs: () => 0 }, random: () => 0.5 };

describe('createRetryDelay', () => {
  it.each<[code: KubeErrorCode, expected: boolean]>([
    ['Unreachable', true],
    ['Timeout', true],
    ['ServerError', true],
    ['TooManyRequests', true],
    ['Gone', false],
    ['Forbidden', false],
    ['BadAnswer', false],
  ])('takes %s for a server that all of its clients wait for: %s', (code, expected) => {
    const error = new KubeError(code, '');
    expect(createRetryDelay({ ...options, reconnectSpreadMs: 60_000 }).isSpread(error)).toBe(expected);
    expect(createRetryDelay(options).isSpread(error)).toBe(false);
  });

  it('doubles the delay of its own errors only', () => {
    const delay = createRetryDelay({ ...options, reconnectSpreadMs: 60_000 });
    const error = new KubeError('Unreachable', '');
    const delays = [true, true, false, false].map((spread) => delay.after(error, spread));
    expect(delays).toEqual([30_000, 30_000, 600, 1200]);
  });

  it('waits a short time after a version that the server has forgotten, however long the outage before it was', () => {
    const delay = createRetryDelay(options);
    const codes: KubeErrorCode[] = [
      'Unreachable',
      'Unreachable',
      'Unreachable',
      'Gone',
      'Unreachable',
      'Gone',
    ];
    const delays = codes.map((code) => delay.after(new KubeError(code, ''), false));
    expect(delays).toEqual([600, 1200, 2400, 600, 4800, 1200]);
  });
});
