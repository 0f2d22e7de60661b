/** Maps the HTTP response of a git server to an error. */
import type { IncomingMessage } from 'node:http';
import { GitError, type GitErrorCode } from '../errors.ts';

type StatusMeaning = readonly [GitErrorCode, what: string, hint: string];

const TOO_MANY_REQUESTS: StatusMeaning = [
  'ServerError',
  'the server limits the rate of requests',
  'sync retries later',
];
const SERVER_FAILED: StatusMeaning = [
  'ServerError',
  'the server failed',
  'sync retries. If this persists, check the server',
];
const UNEXPECTED: StatusMeaning = [
  'Corrupt',
  'the server sent an unexpected status',
  'check that the URL is the URL of a git repository',
];
const TOKEN_REFUSED: StatusMeaning = [
  'Unauthorized',
  'the server refuses the token',
  'check that it has not expired and may read this repository',
];
const TOKEN_REQUIRED: StatusMeaning = [
  'Unauthorized',
  'the server requires a token',
  'put one into a Secret and name it in credentialsRef',
];
const PUSH_REFUSED: StatusMeaning = [
  'Unauthorized',
  'the server does not let the token push',
  'put a token that may write to this repository into the Secret of spec.source.writeCredentialsRef',
];
const NOT_FOUND: StatusMeaning = [
  'NotFoundRepository',
  'the server has no such repository',
  'check the URL, and that the token may read a private repository: servers answer the same in both cases',
];

/** Names the request to the server: to send objects, or to receive them. */
export type GitService = 'upload-pack' | 'receive-pack';

interface Request {
  readonly display: string;
  readonly credential?: string;
  readonly service?: GitService;
}

/** Explains the status of a response. Undefined for a valid response of a git server. */
export function gitStatusError(
  request: Request,
  { statusCode = 0, headers }: IncomingMessage,
  method: string,
): GitError | undefined {
  if (statusCode >= 200 && statusCode < 300) {
    return contentTypeError(request, headers['content-type'] ?? '', method);
  }
  if (statusCode >= 300 && statusCode < 400) return redirectError(request, headers.location);
  const [code, what, hint] = meaningOf(request, statusCode);
  const where = request.display;
  return new GitError(code, `${what} (HTTP ${statusCode})`, { where, hint, ...retryAfter(headers) });
}

function retryAfter(headers: IncomingMessage['headers']): { retryAfterSeconds?: number } {
  const seconds = Number.parseInt(headers['retry-after'] ?? '', 10);
  return Number.isNaN(seconds) ? {} : { retryAfterSeconds: seconds };
}

function meaningOf(request: Request, status: number): StatusMeaning {
  if (status === 401 || status === 403) return unauthorized(request);
  if (status === 404 || status === 410) return NOT_FOUND;
  if (status === 429) return TOO_MANY_REQUESTS;
  return status >= 500 ? SERVER_FAILED : UNEXPECTED;
}

function unauthorized({ credential, service }: Request): StatusMeaning {
  if (service === 'receive-pack') return PUSH_REFUSED;
  return credential ? TOKEN_REFUSED : TOKEN_REQUIRED;
}

/** Redirects are not followed: a token is sent to the declared URL only. */
function redirectError({ display }: Request, location: string | undefined): GitError {
  const to = location && URL.canParse(location, display) ? new URL(location, display) : undefined;
  const target = to ? `${to.origin}${to.pathname}`.replace(/\/info\/refs$/, '') : 'another address';
  return new GitError('NotFoundRepository', `the repository has moved to ${target}`, {
    where: display,
    hint: 'set spec.source.repository to that URL',
  });
}

function contentTypeError(
  { display, service = 'upload-pack' }: Request,
  type: string,
  method: string,
): GitError | undefined {
  const expected = `application/x-git-${service}-${method === 'GET' ? 'advertisement' : 'result'}`;
  if (type.startsWith(expected)) return undefined;
  return new GitError(
    'NotFoundRepository',
    `the server is not a git server: content type ${type || 'missing'}`,
    {
      where: display,
      hint: 'check the URL: it must be the URL for `git clone`',
    },
  );
}
