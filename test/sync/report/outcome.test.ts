import { describe, expect, it } from 'vitest';
import type { GitHostProject } from '../../../src/sync/report/git-host.ts';
import { networkFailure, sendFailure, statusTask } from '../../../src/sync/report/outcome.ts';
import type { HostAnswer } from '../../../src/sync/report/send.ts';
import { NOW } from '../../support/virtual-clock.ts';

const TOKEN = 'ghp_secret';
const PROJECT: GitHostProject = {
  type: 'GitHub',
  base: 'https://github.com',
  path: 'acme/fleet',
  context: 'kubenode/fleet',
};

function outcome(answer: Partial<HostAnswer>, project = PROJECT) {
  return sendFailure({ status: 201, headers: {}, body: '{}', ...answer }, project, {
    token: TOKEN,
    now: NOW,
    task: statusTask(project),
  });
}

describe('S26 the answer of a git host', () => {
  it.each<Partial<HostAnswer>>([{ status: 201 }, { status: 200 }])(
    '%o means that it has the status',
    (answer) => {
      expect(outcome(answer)).toBeUndefined();
    },
  );

  it.each<[answer: Partial<HostAnswer>, reason: string, isTemporary: boolean, hint: string]>([
    [
      { status: 200, body: '<html>log in</html>' },
      'Refused',
      false,
      'Check that spec.source.gitHost.type is its API',
    ],
    [{ status: 204, body: '' }, 'Refused', false, 'does not accept the status (HTTP 204)'],
    [{ status: 401 }, 'TokenRefused', false, 'Put a token that is valid into the Secret'],
    [{ status: 403 }, 'Forbidden', false, 'Give it Commit statuses: write'],
    [{ status: 403, headers: { 'retry-after': '60' } }, 'RateLimited', true, 'Sync sends the status again'],
    [
      { status: 403, headers: { 'x-ratelimit-remaining': '0' } },
      'RateLimited',
      true,
      'Sync sends the status again',
    ],
    [
      { status: 403, body: '{"message":"You have exceeded a secondary rate limit"}' },
      'RateLimited',
      true,
      'secondary',
    ],
    [{ status: 429 }, 'RateLimited', true, 'limits the rate of requests (HTTP 429)'],
    [{ status: 404 }, 'NotFound', false, 'If it was renamed, set spec.source.repository'],
    [{ status: 408 }, 'Unreachable', true, 'failed (HTTP 408)'],
    [{ status: 500 }, 'Unreachable', true, 'failed (HTTP 500)'],
    [{ status: 503, body: 'not json' }, 'Unreachable', true, 'failed (HTTP 503)'],
    [
      { status: 422, body: '{"message":"No commit found for SHA"}' },
      'Refused',
      false,
      '"No commit found for SHA"',
    ],
    [
      { status: 301, headers: { location: 'https://me:pw@other.example.com/acme/new?sig=1' } },
      'Moved',
      false,
      'redirects to https://other.example.com/acme/new: the repository',
    ],
    [{ status: 307, headers: {} }, 'Moved', false, 'redirects to another address'],
  ])('%o is explained as %s', (answer, reason, isTemporary, hint) => {
    const failure = outcome(answer);
    expect(failure).toMatchObject({ reason, isTemporary });
    expect(failure?.message).toContain(hint);
  });

  it('never repeats the token, and no more than a line of what the host sent', () => {
    const body = JSON.stringify({ message: `${TOKEN} is bad\n\u001b[31m${'x'.repeat(5000)}` });
    const { message = '' } = outcome({ status: 401, body }) ?? {};
    expect(message).not.toContain(TOKEN);
    expect(message).toContain('*** is bad\\\\n');
    expect(message.length).toBeLessThan(500);
  });

  it.each<[headers: HostAnswer['headers'], seconds: number | undefined]>([
    [{ 'retry-after': '60' }, 60],
    [{ 'retry-after': new Date(NOW.getTime() + 90_000).toUTCString() }, 90],
    [{ 'retry-after': '99999999' }, 3600],
    [{ 'retry-after': 'soon' }, undefined],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(NOW.getTime() / 1000 + 300) }, 300],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': '1' }, 0],
    [{ 'x-ratelimit-remaining': '5', 'x-ratelimit-reset': String(NOW.getTime() / 1000 + 300) }, undefined],
    [{ 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': 'x' }, undefined],
  ])('with %o asks to wait', (headers, seconds) => {
    expect(outcome({ status: 429, headers })?.retryAfterSeconds).toBe(seconds);
    expect(outcome({ status: 503, headers })?.retryAfterSeconds).toBe(seconds);
  });

  it('explains why there is none', () => {
    const refused = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
    expect(networkFailure(refused, PROJECT, statusTask(PROJECT))).toEqual({
      reason: 'Unreachable',
      message:
        'no answer from https://github.com: the connection was refused: nothing listens there. Sync sends the status again',
      isTemporary: true,
    });
    const untrusted = Object.assign(new Error('tls'), { code: 'SELF_SIGNED_CERT_IN_CHAIN' });
    expect(networkFailure(untrusted, PROJECT, statusTask(PROJECT)).message).toContain(
      'Set spec.source.caRef',
    );
  });
});
