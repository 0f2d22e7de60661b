/** Explains an answer that refuses a token: that of a GitHub App is replaced, and only a person replaces any other. */
import type { SendFailure } from '../outcome.ts';
import type { HostTokens } from './host-tokens.ts';

export function refusedTokenFailure(
  failure: SendFailure,
  token: string,
  tokens: Pick<HostTokens, 'refused'>,
): SendFailure {
  if (failure.reason !== 'TokenRefused' || !tokens.refused(token)) return failure;
  const message =
    'the host refuses the token of the GitHub App, which may have been revoked. Sync asks for another one';
  return { reason: 'TokenRefused', message, isTemporary: true };
}
