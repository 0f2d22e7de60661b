import { expect, it } from 'vitest';
import type { SendFailure } from '../../../../src/sync/report/outcome.ts';
import { refusedTokenFailure } from '../../../../src/sync/report/tokens/refused-token.ts';

const failure = (reason: SendFailure['reason']): SendFailure => ({
  reason,
  message: 'refused',
  isTemporary: false,
});

it('S26 tries again with another token when that of a GitHub App is refused', () => {
  const found = refusedTokenFailure(failure('TokenRefused'), 'ghs_1', {
    refused: (token) => token === 'ghs_1',
  });
  expect(found).toMatchObject({ reason: 'TokenRefused', isTemporary: true });
});

it.each<[what: string, reason: SendFailure['reason'], isOwn: boolean]>([
  ['a token of a person', 'TokenRefused', false],
  ['a token that may not do this', 'Forbidden', true],
])('S26 waits for a person after the refusal of %s', (_, reason, isOwn) => {
  let asked = 0;
  const tokens = { refused: () => ((asked += 1), isOwn) };
  expect(refusedTokenFailure(failure(reason), 'ghs_1', tokens)).toEqual(failure(reason));
  expect(asked).toBe(reason === 'TokenRefused' ? 1 : 0);
});
