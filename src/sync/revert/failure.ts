/** Explains what a failure of git means for a push, in the terms of failures of the git host. Pure. */
import { printableLine } from '../../kube/objects/printable.ts';
import { truncate } from '../../kube/objects/truncate.ts';
import type { GitError, GitErrorCode } from '../git/errors.ts';
import { isGitError } from '../git/errors.ts';
import { HostCallError, type SendFailure } from '../report/outcome.ts';

/** The codes that a person has to end. All others may end without one. */
const REFUSALS: Readonly<Partial<Record<GitErrorCode, SendFailure['reason']>>> = {
  Unauthorized: 'TokenRefused',
  NotFoundRepository: 'NotFound',
  PushRefused: 'Refused',
  BadUrl: 'Refused',
};

const MAX_MESSAGE = 800;

/** Returns undefined for an error that is neither of git nor of its host. */
export function revertFailure(error: unknown): SendFailure | undefined {
  if (error instanceof HostCallError) return error.failure;
  return isGitError(error) ? gitFailure(error) : undefined;
}

function gitFailure({ code, message, hint, where, retryAfterSeconds }: GitError): SendFailure {
  const reason = REFUSALS[code];
  const text = [where, message].filter((each) => each !== undefined).join(': ');
  const next = hint === undefined ? '. Sync tries again' : `; ${hint}`;
  return {
    reason: reason ?? (retryAfterSeconds === undefined ? 'Unreachable' : 'RateLimited'),
    message: truncate(printableLine(`${text}${next}`), MAX_MESSAGE),
    isTemporary: reason === undefined,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
  };
}
