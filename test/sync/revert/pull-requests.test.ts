import { describe, expect, it } from 'vitest';
import type { HostAccess } from '../../../src/sync/report/call.ts';
import { pullIn, REVERT_PULL_ADAPTERS } from '../../../src/sync/revert/pull-requests.ts';

const BRANCHES = { head: 'kubenode/revert/x', base: 'main' };
const URL = 'https://git.example.com/acme/fleet/pulls/7';
const issue = {
  number: 7,
  html_url: URL,
  head: { ref: BRANCHES.head, repo: { id: 1 } },
  base: { ref: 'main', repo: { id: 1 } },
};
const request = {
  iid: 7,
  web_url: URL,
  source_branch: BRANCHES.head,
  target_branch: 'main',
  source_project_id: 1,
  target_project_id: 1,
};
const deleted = { ...issue, head: { ref: 'refs/pull/7/head', label: BRANCHES.head, repo: { id: 1 } } };

describe('pullIn', () => {
  it.each([
    ['GitHub', issue],
    ['Gitea', issue],
    ['Gitea', deleted],
    ['GitLab', request],
  ] as const)('S35 finds the pull request of the branch at %s', (type, pull) => {
    expect(pullIn(type, [{}, null, pull], BRANCHES)).toEqual({ number: 7, url: URL });
  });

  it.each([
    [
      'a fork with a branch of the same name',
      'GitHub',
      { ...issue, head: { ...issue.head, repo: { id: 2 } } },
    ],
    ['a fork that was deleted', 'Gitea', { ...issue, head: { ...issue.head, repo: null } }],
    ['another branch', 'GitHub', { ...issue, head: { ...issue.head, ref: 'other' } }],
    ['another base', 'GitHub', { ...issue, base: { ...issue.base, ref: 'other' } }],
    ['no number', 'GitHub', { ...issue, number: '7' }],
    ['a number that no host has', 'GitHub', { ...issue, number: 2 ** 40 }],
    ['a fork of GitLab', 'GitLab', { ...request, source_project_id: 2 }],
    ['another branch of GitLab', 'GitLab', { ...request, source_branch: 'other' }],
    ['another base of GitLab', 'GitLab', { ...request, target_branch: 'other' }],
  ] as const)('S35 does not take one of %s', (_, type, pull) => {
    expect(pullIn(type, [pull], BRANCHES)).toBeUndefined();
  });

  it('S35 leaves out a page that is not a URL', () => {
    expect(pullIn('GitHub', [{ ...issue, html_url: 'javascript:alert(1)' }], BRANCHES)).toEqual({
      number: 7,
    });
    expect(pullIn('GitHub', { message: 'no list' }, BRANCHES)).toBeUndefined();
  });
});

function access(type: 'GitHub' | 'GitLab' | 'Gitea'): HostAccess {
  return {
    project: { type, base: 'https://git.example.com', path: 'acme/fleet', context: 'c' },
    token: 't',
  };
}

describe('REVERT_PULL_ADAPTERS', () => {
  it('S35 asks for closed pull requests, too, with every name encoded', () => {
    const urls = (['GitHub', 'GitLab', 'Gitea'] as const).map(
      (type) => REVERT_PULL_ADAPTERS[type].findRequest(access(type), { head: 'a&b', base: 'c/d' }).url,
    );
    expect(urls).toEqual([
      'https://git.example.com/api/v3/repos/acme/fleet/pulls?state=all&head=acme%3Aa%26b&base=c%2Fd&per_page=10',
      'https://git.example.com/api/v4/projects/acme%2Ffleet/merge_requests?state=all&source_branch=a%26b&target_branch=c%2Fd&per_page=10',
      'https://git.example.com/api/v1/repos/acme/fleet/pulls?state=all&base_branch=c%2Fd&sort=recentupdate&limit=50',
    ]);
  });
});
