/** Tells which errors only a person can end, for the conditions of a Pipeline. Pure. */
import { SecretError } from '../../api/secrets/read.ts';
import type { CommitStatusReport } from '../commits.ts';
import { GitHostError } from './git-host.ts';

/** Returns the problem of the Pipeline or its Secret. Undefined for any other error. */
export function gitHostProblem(error: unknown): CommitStatusReport['problem'] {
  const status = 'False';
  if (error instanceof SecretError) return { status, reason: 'SecretInvalid', message: error.message };
  return error instanceof GitHostError
    ? { status, reason: 'GitHostUnknown', message: error.message }
    : undefined;
}
