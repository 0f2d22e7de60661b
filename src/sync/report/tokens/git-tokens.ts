/** Issues the credentials with which git reads a repository at GitHub: the tokens of a GitHub App. */
import { GitError, type GitErrorCode } from '../../git/errors.ts';
import type { GitOptions, GitTokens } from '../../git/options.ts';
import { parseRepository } from '../../git/repository-url.ts';
import { HostCallError, type SendFailure } from '../outcome.ts';
import type { HostTokens, TokenTarget } from './host-tokens.ts';

export interface GitTokensOptions {
  readonly tokens: Pick<HostTokens, 'get' | 'refused'>;
  /** The address of the repository, for messages. */
  readonly display: string;
}

/** The user that GitHub expects with the token of an App. */
const USER = 'x-access-token:';

export function createGitTokens(target: TokenTarget, { tokens, display }: GitTokensOptions): GitTokens {
  return {
    async get(signal = new AbortController().signal) {
      try {
        return `${USER}${await tokens.get(target, signal)}`;
      } catch (error) {
        throw error instanceof HostCallError ? gitError(error, display) : error;
      }
    },
    refused: (credential) => void tokens.refused(credential.slice(USER.length)),
  };
}

/** Returns what git sends to a repository at the host: the token as it is, or one that a GitHub App gets for it. */
export function gitAccess(
  target: TokenTarget & Pick<GitOptions, 'repository'>,
  tokens: Pick<HostTokens, 'get' | 'refused'>,
): Pick<GitOptions, 'credential' | 'tokens'> {
  const { credential } = target;
  if (credential.type === 'Token') return { credential: credential.token };
  return { tokens: createGitTokens(target, { tokens, display: parseRepository(target.repository).display }) };
}

function gitError({ message, failure }: HostCallError, where: string): GitError {
  const { retryAfterSeconds } = failure;
  const later = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  return new GitError(codeOf(failure), message, { where, ...later });
}

function codeOf({ reason, isTemporary }: SendFailure): GitErrorCode {
  if (reason === 'RateLimited') return 'ServerError';
  return isTemporary ? 'Unreachable' : 'Unauthorized';
}
