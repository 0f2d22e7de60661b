/** What each git host is sent, by its documentation. */
import { expect, it } from 'vitest';
import type { GitHostProject } from '../../../../src/sync/report/git-host.ts';
import { GIT_HOST_ADAPTERS } from '../../../../src/sync/report/hosts/adapters.ts';

const PROJECT: Omit<GitHostProject, 'type'> = {
  base: 'https://git.example.com',
  path: 'ac me/fl/eet?',
  context: 'kubenode/fleet',
  link: 'https://console.example.com',
};
const COMMIT = { commit: '0123abc', message: 'stage prod: 1 of 2 clusters proven' };

const bodyOf = (type: GitHostProject['type'], state: 'Pending' | 'Succeeded' | 'Failed' | 'Superseded') => {
  const request = GIT_HOST_ADAPTERS[type].statusRequest({ ...PROJECT, type }, { ...COMMIT, state }, 'tok');
  return { ...request, body: JSON.parse(request.body ?? '') as Record<string, string> };
};

it.each([
  [
    'GitHub',
    'https://git.example.com/api/v3/repos/ac%20me/fl/eet%3F/statuses/0123abc',
    'Bearer tok',
    'context',
  ],
  [
    'GitLab',
    'https://git.example.com/api/v4/projects/ac%20me%2Ffl%2Feet%3F/statuses/0123abc',
    'Bearer tok',
    'name',
  ],
  [
    'Gitea',
    'https://git.example.com/api/v1/repos/ac%20me/fl/eet%3F/statuses/0123abc',
    'token tok',
    'context',
  ],
] as const)('S26 sends a status to %s as it documents it', (type, url, authorization, nameField) => {
  const { headers, body, ...request } = bodyOf(type, 'Failed');
  expect(request).toEqual({ method: 'POST', url });
  expect(headers).toMatchObject({ authorization, 'content-type': 'application/json' });
  expect(body).toEqual({
    state: type === 'GitLab' ? 'failed' : 'failure',
    [nameField]: 'kubenode/fleet',
    description: COMMIT.message,
    target_url: 'https://console.example.com',
  });
});

it.each([
  ['GitHub', ['pending', 'success', 'failure', 'success']],
  ['GitLab', ['running', 'success', 'failed', 'canceled']],
  ['Gitea', ['pending', 'success', 'failure', 'warning']],
] as const)('S26 uses the states that %s has', (type, states) => {
  const all = ['Pending', 'Succeeded', 'Failed', 'Superseded'] as const;
  expect(all.map((state) => bodyOf(type, state).body['state'])).toEqual(states);
});

it('S26 takes the refusal of GitLab to repeat a state for a yes, and nothing else', () => {
  const body = '{"message":"Cannot transition status via :run from :running"}';
  expect(isYes('GitLab', 400, body)).toBe(true);
  expect(isYes('GitLab', 400, '{"message":"state does not have a valid value"}')).toBe(false);
  expect(isYes('GitLab', 500, body)).toBe(false);
  expect(isYes('GitHub', 400, body)).toBe(false);
  expect(isYes('Gitea', 400, body)).toBe(false);
});

it('S26 sends no link unless one is configured', () => {
  for (const type of ['GitHub', 'GitLab', 'Gitea'] as const) {
    const { link: _, ...project } = PROJECT;
    const { body } = GIT_HOST_ADAPTERS[type].statusRequest(
      { ...project, type },
      { ...COMMIT, state: 'Failed' },
      't',
    );
    expect(body).not.toContain('target_url');
  }
});

function isYes(type: GitHostProject['type'], status: number, body: string): boolean {
  return GIT_HOST_ADAPTERS[type].hasState({ status, headers: {}, body });
}
