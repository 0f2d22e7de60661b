/** What an HTTP status of a git server means for the caller. */
import type { IncomingMessage } from 'node:http';
import { GitError, type GitErrorCode } from '../errors.ts';

type Meaning = readonly [GitErrorCode, what: string, hint: string];

const TOO_MANY: Meaning = ['ServerError', 'the server has had too many requests', 'sync asks again later'];
const FAILED: Meaning = [
  'ServerError',
  'the server failed',
  'sync asks again; if it stays, look at the server',
];
const NO_GIT: Meaning = [
  'Corrupt',
  'the server gave an answer that git does not give',
  'check that the URL is that of a git repository',
];

interface Asked {
  readonly display: string;
  readonly credential?: string;
}

/** Nothing when it is the answer of a git server. */
export function gitStatusError(asked: Asked, answer: IncomingMessage, method: string): GitError | undefined {
  const { statusCode = 0, headers } = answer;
  if (statusCode >= 200 && statusCode < 300) return wrongType(asked, headers['content-type'] ?? '', method);
  if (statusCode >= 300 && statusCode < 400) return moved(asked, headers.location);
  const [code, what, hint] = meaningOf(asked, statusCode);
  const where = asked.display;
  return new GitError(code, `${what} (HTTP ${statusCode})`, { where, hint, ...retryAfter(headers) });
}

function retryAfter(headers: IncomingMessage['headers']): { retryAfterSeconds?: number } {
  const seconds = Number.parseInt(headers['retry-after'] ?? '', 10);
  return Number.isNaN(seconds) ? {} : { retryAfterSeconds: seconds };
}

function meaningOf({ credential }: Asked, status: number): Meaning {
  if (status === 401 || status === 403) {
    return credential
      ? [
          'Unauthorized',
          'the server refuses the token',
          'check that it has not expired and may read this repository',
        ]
      : ['Unauthorized', 'the server wants a token', 'put one into a Secret and name it in credentialsRef'];
  }
  if (status === 404 || status === 410) {
    return [
      'NotFoundRepository',
      'the server knows no such repository',
      'check the URL; private repositories look the same to a token that may not read them',
    ];
  }
  if (status === 429) return TOO_MANY;
  return status >= 500 ? FAILED : NO_GIT;
}

/** Not followed: a token must not go where nobody declared that it goes. */
function moved({ display }: Asked, location: string | undefined): GitError {
  const to = location && URL.canParse(location, display) ? new URL(location, display) : undefined;
  const target = to ? `${to.origin}${to.pathname}`.replace(/\/info\/refs$/, '') : 'another address';
  return new GitError('NotFoundRepository', `the repository has moved to ${target}`, {
    where: display,
    hint: 'write that URL into spec.source.repository',
  });
}

function wrongType({ display }: Asked, type: string, method: string): GitError | undefined {
  const wanted = `application/x-git-upload-pack-${method === 'GET' ? 'advertisement' : 'result'}`;
  if (type.startsWith(wanted)) return undefined;
  return new GitError(
    'NotFoundRepository',
    `something answers there, but no git server (${type || 'no type'})`,
    {
      where: display,
      hint: 'check the URL: it must be the one that `git clone` takes',
    },
  );
}
