import { describe, expect, it } from 'vitest';
import type { GitHost } from '../../../src/api/generated/types.ts';
import { gitHostProject } from '../../../src/sync/report/git-host.ts';
import { GIT_HOST_ADAPTERS } from '../../../src/sync/report/hosts/adapters.ts';
import { reportingPipeline } from './builders.ts';

function apiOf(repository: string, gitHost?: GitHost): string {
  const project = gitHostProject(reportingPipeline({ repository, ...(gitHost ? { gitHost } : {}) }));
  const api = GIT_HOST_ADAPTERS[project.type].apiUrl(project.base);
  return `${project.type} ${api} ${project.path}`;
}

describe('S26 finds the project of a repository', () => {
  it.each<[repository: string, gitHost: GitHost | undefined, api: string]>([
    ['https://github.com/acme/fleet.git', undefined, 'GitHub https://api.github.com acme/fleet'],
    ['git@github.com:acme/fleet.git', undefined, 'GitHub https://api.github.com acme/fleet'],
    ['ssh://git@github.com:22/acme/fleet', undefined, 'GitHub https://api.github.com acme/fleet'],
    [
      'https://gitlab.com/acme/infra/fleet.git',
      undefined,
      'GitLab https://gitlab.com/api/v4 acme/infra/fleet',
    ],
    ['https://codeberg.org/acme/fleet/', undefined, 'Gitea https://codeberg.org/api/v1 acme/fleet'],
    [
      'https://git.example.com/acme/fleet',
      { type: 'GitHub' },
      'GitHub https://git.example.com/api/v3 acme/fleet',
    ],
    [
      'https://git.example.com:8443/acme/fleet',
      { type: 'Gitea' },
      'Gitea https://git.example.com:8443/api/v1 acme/fleet',
    ],
    [
      'https://git.example.com/gitea/acme/fleet.git',
      { type: 'Gitea', url: 'https://git.example.com/gitea/' },
      'Gitea https://git.example.com/gitea/api/v1 acme/fleet',
    ],
    [
      'ssh://git@ssh.example.com:2222/acme/fleet.git',
      { type: 'GitLab', url: 'https://git.example.com' },
      'GitLab https://git.example.com/api/v4 acme/fleet',
    ],
    [
      'http://127.0.0.1:3000/acme/fleet.git',
      { type: 'Gitea', url: 'http://127.0.0.1:3000' },
      'Gitea http://127.0.0.1:3000/api/v1 acme/fleet',
    ],
    ['https://github.com/acme/fl%20eet', undefined, 'GitHub https://api.github.com acme/fl eet'],
  ])('finds the API of %s with %o', (repository, gitHost, api) => {
    expect(apiOf(repository, gitHost)).toBe(api);
  });

  it.each<[repository: string, gitHost: GitHost | undefined, message: string]>([
    [
      'https://git.example.com/acme/fleet',
      undefined,
      'the API of git.example.com is not known: set spec.source.gitHost.type',
    ],
    ['https://constructor/acme/fleet', undefined, 'the API of constructor is not known'],
    ['file:///srv/fleet', undefined, 'a repository in a folder has no git host'],
    ['https://github.com/fleet', undefined, 'expected owner/name'],
    ['https://github.com/a/b/c', undefined, 'expected owner/name. Set spec.source.gitHost.url if'],
    ['git@github.com:../fleet', undefined, 'expected owner/name'],
    ['https://github.com/acme/%2e%2e', undefined, 'expected owner/name'],
    ['https://github.com/acme/a%0ab', undefined, 'expected owner/name'],
    ['https://github.com/acme/%ff', undefined, 'spec.source.repository is not a valid URL: write % as %25'],
    [
      'https://github.com/acme/fleet',
      { url: 'http://git.example.com' },
      'the address of the git host is not usable',
    ],
    [
      'https://github.com/acme/fleet',
      { url: 'https://me:secret@git.example.com' },
      'the address of the git host is not usable',
    ],
    ['https://github.com/acme/fleet', { url: 'file:///etc' }, 'the address of the git host is not usable'],
  ])('refuses %s with %o', (repository, gitHost, message) => {
    expect(() => apiOf(repository, gitHost)).toThrow(message);
  });

  it('names the status after the Pipeline, unless it has a name of its own', () => {
    expect(gitHostProject(reportingPipeline())).toMatchObject({ context: 'kubenode/fleet' });
    const gitHost = { context: 'hub-eu', link: 'https://console.example.com' };
    expect(gitHostProject(reportingPipeline({ gitHost }))).toMatchObject(gitHost);
  });
});
