import type { IncomingMessage } from 'node:http';
import { describe, expect, it } from 'vitest';
import { gitStatusError } from '../../../../src/sync/git/http/status-errors.ts';

const DISPLAY = 'https://git.example.com/fleet';

function errorFor(
  statusCode: number,
  headers: IncomingMessage['headers'] = {},
  credential?: string,
): ReturnType<typeof gitStatusError> {
  const request = { display: DISPLAY, ...(credential ? { credential } : {}) };
  return gitStatusError(request, { statusCode, headers } as IncomingMessage, 'GET');
}

describe('gitStatusError', () => {
  it.each<[status: number, credential: string | undefined, code: string, hint: RegExp]>([
    [401, undefined, 'Unauthorized', /credentialsRef/],
    [403, 's3cret', 'Unauthorized', /expired/],
    [404, 's3cret', 'NotFoundRepository', /private repository/],
    [410, undefined, 'NotFoundRepository', /URL/],
    [418, undefined, 'Corrupt', /URL/],
    [429, undefined, 'ServerError', /retries/],
    [503, undefined, 'ServerError', /retries/],
  ])('maps %d with the token %s to %s', (status, credential, code, hint) => {
    const error = errorFor(status, {}, credential);
    expect(error).toMatchObject({ code, where: DISPLAY, hint: expect.stringMatching(hint) as string });
    expect(`${error?.message} ${error?.hint}`).not.toContain('s3cret');
  });

  it('reads Retry-After', () => {
    expect(errorFor(429, { 'retry-after': '7' })?.retryAfterSeconds).toBe(7);
    expect(errorFor(429, { 'retry-after': 'soon' })?.retryAfterSeconds).toBeUndefined();
  });

  it('names the target of a redirect, and does not follow it', () => {
    const location = 'https://other.example.com/fleet.git/info/refs?service=git-upload-pack';
    expect(errorFor(301, { location })?.message).toBe(
      'the repository has moved to https://other.example.com/fleet.git',
    );
  });

  it('accepts only the content type of a git server', () => {
    expect(errorFor(200, { 'content-type': 'application/x-git-upload-pack-advertisement' })).toBeUndefined();
    expect(errorFor(200, { 'content-type': 'text/html' })?.code).toBe('NotFoundRepository');
  });
});
