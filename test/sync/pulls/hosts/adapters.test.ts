/** What each git host is asked, by its documentation, and what of its answers is read. */
import { describe, expect, it } from 'vitest';
import { PULL_ADAPTERS } from '../../../../src/sync/pulls/hosts/adapters.ts';
import type { GitHostProject } from '../../../../src/sync/report/git-host.ts';

const PROJECT = { base: 'https://git.example.com', path: 'acme/fl?eet', context: 'c' };
const SHA = 'a'.repeat(40);
type Type = GitHostProject['type'];

const target = (type: Type) => ({ project: { ...PROJECT, type }, token: 'tok' });
const API: Readonly<Record<Type, string>> = {
  GitHub: 'https://git.example.com/api/v3/repos/acme/fl%3Feet',
  Gitea: 'https://git.example.com/api/v1/repos/acme/fl%3Feet',
  GitLab: 'https://git.example.com/api/v4/projects/acme%2Ffl%3Feet/merge_requests',
};

describe('S22 asks a git host as it documents it', () => {
  it.each<[Type, string, string]>([
    ['GitHub', '/pulls?state=open&base=re%2F1&sort=updated&direction=desc&per_page=50&page=2', 'Bearer tok'],
    ['Gitea', '/pulls?state=open&base_branch=re%2F1&sort=recentupdate&limit=50&page=2', 'token tok'],
    [
      'GitLab',
      '?state=opened&target_branch=re%2F1&order_by=updated_at&sort=desc&per_page=50&page=2',
      'Bearer tok',
    ],
  ])('lists the open pull requests of %s by their tag', (type, url, authorization) => {
    const adapter = PULL_ADAPTERS[type];
    const request = adapter.listRequest(target(type), { branch: 're/1', page: 2, etag: '"e"' });
    expect(request).toMatchObject({ method: 'GET', url: `${API[type]}${url}` });
    expect(request.headers).toMatchObject({ authorization, 'if-none-match': '"e"' });
    expect(request.body).toBeUndefined();
    expect(request.maxBytes).toBeGreaterThan(4_000_000);
    const whole = adapter.listRequest(target(type), { branch: 're/1', page: 2, etag: undefined });
    expect(whole.headers).not.toHaveProperty('if-none-match');
  });

  it.each<[Type, string, string, string]>([
    ['GitHub', 'refs/pull/7/head', '/issues/7/comments', '/issues/comments/9'],
    ['Gitea', 'refs/pull/7/head', '/issues/7/comments', '/issues/comments/9'],
    ['GitLab', 'refs/merge-requests/7/head', '/7/notes', '/7/notes/9'],
  ])('reads and writes the comments of %s', (type, ref, list, one) => {
    const adapter = PULL_ADAPTERS[type];
    expect(adapter.ref(7)).toBe(ref);
    const create = adapter.commentRequest(target(type), { number: 7, body: 'text' });
    expect(create).toMatchObject({ method: 'POST', url: `${API[type]}${list}`, body: '{"body":"text"}' });
    const update = adapter.commentRequest(target(type), { number: 7, comment: '9', body: 'text' });
    const method = type === 'GitLab' ? 'PUT' : 'PATCH';
    expect(update).toMatchObject({ method, url: `${API[type]}${one}`, body: '{"body":"text"}' });
    const page = adapter.commentsRequest(target(type), 7, 2);
    expect(page).toMatchObject({ method: 'GET' });
    expect(page.url.startsWith(`${API[type]}${list}`)).toBe(true);
    expect(page.url.includes('page=2')).toBe(adapter.isPaged);
  });
});

const githubPull = (more: object = {}) => ({
  number: 7,
  head: { sha: SHA, repo: { id: 1 } },
  base: { ref: 'main', repo: { id: 1 } },
  ...more,
});
const gitlabPull = (more: object = {}) => ({
  iid: 7,
  sha: SHA,
  target_branch: 'main',
  source_project_id: 1,
  target_project_id: 1,
  ...more,
});
/** As Gitea answers, in `services/convert/pull.go`: the head of the AGit flow names no branch. */
const giteaHead = (ref: string) => ({ label: '', ref, sha: SHA, repo_id: 1, repo: { id: 1 } });
const OWN = [{ number: 7, head: SHA, isFork: false }];
const FORK = [{ number: 7, head: SHA, isFork: true }];

describe('S22 reads what a git host answers', () => {
  it.each<[name: string, type: Type, answer: unknown, expected: readonly object[]]>([
    ['a pull request', 'GitHub', [githubPull()], OWN],
    ['one of Gitea', 'Gitea', [githubPull()], OWN],
    ['one of a branch of Gitea', 'Gitea', [githubPull({ head: giteaHead('topic') })], OWN],
    ['one of the AGit flow', 'Gitea', [githubPull({ head: giteaHead('refs/pull/7/head') })], FORK],
    ['one of GitLab', 'GitLab', [gitlabPull()], OWN],
    ['one from a fork', 'GitHub', [githubPull({ head: { sha: SHA, repo: { id: 2 } } })], FORK],
    ['one from a fork that was deleted', 'GitHub', [githubPull({ head: { sha: SHA, repo: null } })], FORK],
    ['one from a fork at GitLab', 'GitLab', [gitlabPull({ source_project_id: 2 })], FORK],
    ['one from a fork that was deleted at GitLab', 'GitLab', [gitlabPull({ source_project_id: null })], FORK],
    ['none for another branch', 'GitHub', [githubPull({ base: { ref: 'x', repo: { id: 1 } } })], []],
    ['none for another branch at GitLab', 'GitLab', [gitlabPull({ target_branch: 'x' })], []],
    ['none with a number in text form', 'GitHub', [githubPull({ number: '7/../8' })], []],
    ['none with a number below one', 'GitHub', [githubPull({ number: 0 })], []],
    ['none with a number of more than 31 bits', 'GitLab', [gitlabPull({ iid: 2 ** 31 })], []],
    ['none whose head is a branch', 'GitLab', [gitlabPull({ sha: 'main' })], []],
    ['none while GitLab has no head', 'GitLab', [gitlabPull({ sha: null })], []],
    ['none that is not a record', 'Gitea', [7, null, 'x'], []],
    ['none of an answer that is not a list', 'GitHub', { message: 'Not Found' }, []],
  ])('%s', (_, type, answer, expected) => {
    expect(PULL_ADAPTERS[type].pulls(answer, 'main')).toEqual(expected);
  });

  it.each<Type>(['GitHub', 'GitLab', 'Gitea'])('takes comments of %s with an id only', (type) => {
    const answer = [
      { id: 9, body: 'text' },
      { id: 'x', body: 'a' },
      { body: 'b' },
      { id: 2 ** 60 },
      { id: 3 },
    ];
    expect(PULL_ADAPTERS[type].comments(answer)).toEqual([
      { id: '9', body: 'text' },
      { id: '3', body: '' },
    ]);
  });
});
