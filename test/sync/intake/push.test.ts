import { describe, expect, it } from 'vitest';
import type { HookHeaders } from '../../../src/kube/webhook/signature.ts';
import { ignoredPushReason } from '../../../src/sync/intake/push.ts';

const GITHUB = { 'x-github-event': 'push' };
const GITLAB = { 'x-gitlab-event': 'Push Hook' };
const FORM = { ...GITHUB, 'content-type': 'application/x-www-form-urlencoded' };
const json = (ref: unknown): string => JSON.stringify({ ref });

describe('ignoredPushReason', () => {
  it.each<[what: string, headers: HookHeaders, body: string, ref: string]>([
    ['the ref of the Pipeline', GITHUB, json('refs/heads/main'), 'refs/heads/main'],
    ['its short name', GITLAB, json('refs/heads/main'), 'main'],
    ['a tag that the Pipeline follows', GITHUB, json('refs/tags/v1'), 'refs/tags/v1'],
    ['any branch when the Pipeline follows HEAD', GITHUB, json('refs/heads/other'), 'HEAD'],
    ['a form', FORM, `payload=${encodeURIComponent(json('refs/heads/main'))}`, 'main'],
    ['a body without ref', {}, '{}', 'main'],
    ['a ref that is not a text', GITHUB, json(7), 'main'],
    ['no JSON', GITHUB, 'ref', 'main'],
    ['no body at all', {}, '', 'main'],
  ])('reads the repository for %s', (_, headers, body, ref) => {
    expect(ignoredPushReason(headers, Buffer.from(body), { ref, pulls: false })).toBeUndefined();
  });

  it.each<[headers: HookHeaders, body: string, because: string]>([
    [GITHUB, json('refs/heads/other'), 'refs/heads/other was pushed, and the Pipeline follows main'],
    [GITHUB, json('refs/tags/main'), 'refs/tags/main was pushed, and the Pipeline follows main'],
    [FORM, `payload=${json('refs/heads/x')}`, 'refs/heads/x was pushed, and the Pipeline follows main'],
    [{ 'x-github-event': 'ping' }, '{}', 'event ping is not a push'],
    [{ 'x-gitlab-event': 'Tag Push Hook' }, json('refs/heads/main'), 'event Tag Push Hook is not a push'],
    [{ 'x-gitea-event': 'issues', 'x-github-event': 'push' }, '{}', 'event issues is not a push'],
  ])('ignores %j with %s', (headers, body, because) => {
    expect(ignoredPushReason(headers, Buffer.from(body), { ref: 'main', pulls: false })).toBe(because);
  });

  it.each([
    ['GitHub', { 'x-github-event': 'pull_request' }],
    ['Gitea', { 'x-gitea-event': 'pull_request', 'x-github-event': 'pull_request' }],
    ['GitLab', { 'x-gitlab-event': 'Merge Request Hook' }],
  ])('S22 reads the pull requests for an event of %s only if they are planned', (_, headers) => {
    const reason = (pulls: boolean) => ignoredPushReason(headers, Buffer.from('{}'), { ref: 'main', pulls });
    expect(reason(true)).toBeUndefined();
    expect(reason(false)).toMatch(/^event .* is not a push$/);
  });

  it('S22 ignores comments on pull requests, its own among them', () => {
    const headers = { 'x-github-event': 'issue_comment' };
    const reason = ignoredPushReason(headers, Buffer.from('{}'), { ref: 'main', pulls: true });
    expect(reason).toBe('event issue_comment is not a push');
  });

  it('shows a bounded part of what the sender wrote', () => {
    expect(
      ignoredPushReason(GITHUB, Buffer.from(json('x'.repeat(9999))), { ref: 'main', pulls: false }),
    ).toHaveLength(200);
  });
});
