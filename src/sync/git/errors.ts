/** The error of this folder. Callers branch on `code`; `where` and `hint` are printed. No message contains a token or a key. */
export type GitErrorCode =
  | 'BadUrl' // a URL that we do not fetch from
  | 'NotFoundRepository'
  | 'NotFoundRef'
  | 'NotFoundObject' // a commit, tree or blob that was not fetched
  | 'Unauthorized' // missing, wrong or insufficient credentials
  | 'HostKey' // the ssh server did not present a declared host key
  | 'Certificate' // the certificate of the https server is not trusted
  | 'PushRefused' // the server does not accept the new commit for the ref
  | 'Unreachable' // no connection, or it was interrupted
  | 'Timeout'
  | 'ServerError' // 429 and 5xx: retry later
  | 'TooLarge'
  | 'InvalidObject' // a commit contains what git or we refuse, e.g. a file called .git
  | 'Corrupt' // received or local data is not valid git data
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

/** The hint for what is refused in every commit that has it in its history. */
export const REWRITE_HINT =
  'remove it from the history of the branch: git reset to a commit without it, then git push --force';

/** Fetching and reading the same commit again gives the same error: it is refused until the ref moves. */
export function isRefusal(error: unknown): error is GitError {
  return isGitError(error, 'TooLarge', 'InvalidObject');
}

export function isGitError(error: unknown, ...codes: GitErrorCode[]): error is GitError {
  return error instanceof GitError && (codes.length === 0 || codes.includes(error.code));
}
