/**
 * The one error of this folder. `code` says what a caller can do about it; `where` and `hint` are for people, and the
 * command line prints them. No message ever holds a token or a key.
 */
export type GitErrorCode =
  | 'BadUrl' // the URL is none that we fetch from
  | 'NotFoundRepository'
  | 'NotFoundRef'
  | 'NotFoundObject' // a commit, tree or blob that is not here
  | 'Unauthorized' // no credentials, wrong ones, or not enough
  | 'HostKey' // the ssh server is not the one that was declared
  | 'Certificate' // the https server is not the one that it says it is
  | 'Unreachable' // no connection, or cut off in the middle
  | 'Timeout'
  | 'ServerError' // 429 and 5xx: try again later
  | 'TooLarge'
  | 'Corrupt' // what came, or what lies here, is not what git promises
  | 'MissingTool' // git or ssh is not installed
  | 'Aborted';

export interface GitErrorDetails {
  readonly where?: string;
  readonly hint?: string;
  readonly retryAfterSeconds?: number;
  readonly cause?: unknown;
}

export class GitError extends Error {
  override readonly name = 'GitError';
  readonly code: GitErrorCode;
  readonly where: string | undefined;
  readonly hint: string | undefined;
  readonly retryAfterSeconds: number | undefined;

  constructor(code: GitErrorCode, message: string, details: GitErrorDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.where = details.where;
    this.hint = details.hint;
    this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

export function isGitError(error: unknown, ...codes: GitErrorCode[]): error is GitError {
  return error instanceof GitError && (codes.length === 0 || codes.includes(error.code));
}
