/** The requests to find and to create the pull request of a branch, and what git hosts answer to them. */
import { type JsonRecord, textAt, valueAt } from '../../kube/objects/json.ts';
import { isPullNumber, recordsIn } from '../pulls/hosts/entries.ts';
import type { HostAccess } from '../report/call.ts';
import type { GitHostProject, GitHostType } from '../report/git-host.ts';
import { encodePath } from '../report/hosts/adapter.ts';
import { GIT_HOST_ADAPTERS } from '../report/hosts/adapters.ts';
import type { HostRequest } from '../report/send.ts';
import type { PullRequestPage } from './plan.ts';

export interface PullBranches {
  /** The branch with the revert. */
  readonly head: string;
  /** The branch that it is for. */
  readonly base: string;
}

export interface PullText extends PullBranches {
  readonly title: string;
  readonly body: string;
}

export interface RevertPullAdapter {
  /** Returns the request for the pull requests of the branch, also those that were closed. */
  findRequest(access: HostAccess, branches: PullBranches): HostRequest;
  createRequest(access: HostAccess, text: PullText): HostRequest;
  /** Tells whether an entry is a pull request from this branch of the repository itself. */
  isOf(pull: JsonRecord, branches: PullBranches): boolean;
  /** Returns the number and the page of a pull request. */
  pageOf(pull: unknown): PullRequestPage | undefined;
  /** The permissions that a token needs, for people. */
  readonly permission: string;
}

type Query = (branches: PullBranches, project: GitHostProject) => string;

function createAdapter(type: 'GitHub' | 'Gitea', query: Query, permission: string): RevertPullAdapter {
  const host = GIT_HOST_ADAPTERS[type];
  const urlOf = ({ base, path }: GitHostProject): string =>
    `${host.apiUrl(base)}/repos/${encodePath(path)}/pulls`;
  return {
    findRequest: ({ project, token }, branches) =>
      host.request(token, { method: 'GET', url: `${urlOf(project)}?${query(branches, project)}` }),
    createRequest: ({ project, token }, { title, head, base, body }) =>
      host.request(token, { method: 'POST', url: urlOf(project), body: { title, head, base, body } }),
    isOf: (pull, { head, base }) => {
      // Gitea names the branch in the label once it is deleted.
      const names = [textAt(pull, 'head', 'ref'), textAt(pull, 'head', 'label')];
      const isHere = valueAt(pull, 'head', 'repo', 'id') === valueAt(pull, 'base', 'repo', 'id');
      return names.includes(head) && textAt(pull, 'base', 'ref') === base && isHere;
    },
    pageOf: (pull) => pageOf(valueAt(pull, 'number'), textAt(pull, 'html_url')),
    permission,
  };
}

const gitlab = GIT_HOST_ADAPTERS.GitLab;

function mergeRequests({ base, path }: GitHostProject): string {
  return `${gitlab.apiUrl(base)}/projects/${encodeURIComponent(path)}/merge_requests`;
}

export const REVERT_PULL_ADAPTERS: Readonly<Record<GitHostType, RevertPullAdapter>> = {
  GitHub: createAdapter(
    'GitHub',
    ({ head, base }, { path }) =>
      `state=all&head=${encodeURIComponent(`${path.split('/')[0] ?? ''}:${head}`)}&base=${encodeURIComponent(base)}&per_page=10`,
    'Contents: write and Pull requests: write (fine-grained token), or the scope repo',
  ),
  /** Gitea cannot be asked for a branch: the newest 50 are. */
  Gitea: createAdapter(
    'Gitea',
    ({ base }) => `state=all&base_branch=${encodeURIComponent(base)}&sort=recentupdate&limit=50`,
    'the scopes write:repository and write:issue, and the right to write to the repository',
  ),
  GitLab: {
    findRequest({ project, token }, { head, base }) {
      const query = `state=all&source_branch=${encodeURIComponent(head)}&target_branch=${encodeURIComponent(base)}&per_page=10`;
      return gitlab.request(token, { method: 'GET', url: `${mergeRequests(project)}?${query}` });
    },
    createRequest({ project, token }, { title, head, base, body }) {
      const sent = { title, description: body, source_branch: head, target_branch: base };
      const request = { ...sent, remove_source_branch: true };
      return gitlab.request(token, { method: 'POST', url: mergeRequests(project), body: request });
    },
    isOf: (pull, { head, base }) =>
      textAt(pull, 'source_branch') === head &&
      textAt(pull, 'target_branch') === base &&
      valueAt(pull, 'source_project_id') === valueAt(pull, 'target_project_id'),
    pageOf: (pull) => pageOf(valueAt(pull, 'iid'), textAt(pull, 'web_url')),
    permission: 'the scopes api and write_repository, and the role Developer in the project',
  },
};

/** Returns the pull request of the branch in a list. */
export function pullIn(
  type: GitHostType,
  answer: unknown,
  branches: PullBranches,
): PullRequestPage | undefined {
  const adapter = REVERT_PULL_ADAPTERS[type];
  const pulls = recordsIn(answer).filter((each) => adapter.isOf(each, branches));
  return pulls.map((each) => adapter.pageOf(each)).find((page) => page !== undefined);
}

const PAGE = /^https?:\/\/[\x21-\x7e]{1,1000}$/;

function pageOf(number: unknown, url: string | undefined): PullRequestPage | undefined {
  if (!isPullNumber(number)) return undefined;
  return url !== undefined && PAGE.test(url) ? { number, url } : { number };
}
