/**
 * Hands tokens that end after a while to the worker: each call that may use the network brings its own. A token that cannot be had is an
 * error only if the worker needs it, because what was fetched before can be read without the server.
 */
import { GitError, isGitError } from '../errors.ts';
import type { GitTokens } from '../options.ts';
import { errorFrom, fieldsOf, type GitAccess, type GitMethod } from './protocol.ts';

const NETWORK_METHODS: ReadonlySet<GitMethod> = new Set([
  'fetch',
  'deepen',
  'ancestry',
  'signatures',
  'revert',
  'ensure',
]);

export interface AccessQuestion {
  readonly method: GitMethod;
  readonly signal: AbortSignal | undefined;
}

/** Makes a call with the token that it may need. One that the server refuses is noted, so that the next call gets another. */
export async function withAccess<T>(
  tokens: GitTokens,
  question: AccessQuestion,
  call: (access: GitAccess | undefined) => Promise<T>,
): Promise<T> {
  const access = await requestAccess(tokens, question);
  try {
    return await call(access);
  } catch (error) {
    const isRefused = access && 'credential' in access && isGitError(error, 'Unauthorized');
    if (isRefused) tokens.refused(access.credential);
    throw error;
  }
}

async function requestAccess(
  tokens: GitTokens,
  { method, signal }: AccessQuestion,
): Promise<GitAccess | undefined> {
  if (!NETWORK_METHODS.has(method)) return undefined;
  try {
    return { credential: await tokens.get(signal) };
  } catch (error) {
    return { error: fieldsOf(error) };
  }
}

/** Returns the tokens of a worker: those that its calls brought. */
export function receivedTokens(access: () => GitAccess | undefined): GitTokens {
  return {
    async get() {
      const last = access();
      if (!last) throw new GitError('Unauthorized', 'no token was received for this repository');
      if ('error' in last) throw errorFrom(last.error);
      return last.credential;
    },
    // The other process sees the error of the call.
    refused: () => undefined,
  };
}
