import { expect, it } from 'vitest';
import { counterKey, isCounter } from '../../../src/defender/ledger/counter-key.ts';

it('the key of a counter ends with its name, and fits into the ledger whatever the breaker is called', () => {
  expect(counterKey('fleet-default/b/web', 'trips')).toBe('fleet-default/b/web#trips');
  const longest = counterKey('x'.repeat(160), 'failed');
  expect([longest.length, isCounter(longest, 'failed'), isCounter(longest, 'acts')]).toEqual([
    160,
    true,
    false,
  ]);
});
