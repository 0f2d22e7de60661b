/** The pull requests of GitHub, and of Gitea and Forgejo, whose API follows it: a comment is one of the issue with the same number. */
import { type JsonRecord, textAt, valueAt } from '../../../kube/objects/json.ts';
import type { GitHostProject } from '../../report/git-host.ts';
import { encodePath } from '../../report/hosts/adapter.ts';
import { GIT_HOST_ADAPTERS } from '../../report/hosts/adapters.ts';
import { COMMENTS_PER_PAGE, listed, PULLS_PER_PAGE, type PullAdapter } from './adapter.ts';
import { commentsIn, pullOf, recordsIn } from './entries.ts';

interface IssueHost extends Pick<PullAdapter, 'isPaged' | 'permission'> {
  readonly type: 'GitHub' | 'Gitea';
  /** Returns the query for the open pull requests for a branch. */
  readonly query: (branch: string) => string;
}

function createIssueAdapter({ type, query, ...more }: IssueHost): PullAdapter {
  const host = GIT_HOST_ADAPTERS[type];
  const urlOf = ({ base, path }: GitHostProject, rest: string): string =>
    `${host.apiUrl(base)}/repos/${encodePath(path)}/${rest}`;
  return {
    ...more,
    listRequest({ project, token }, { branch, page, etag }) {
      const url = urlOf(project, `pulls?${query(branch)}&page=${page}`);
      return listed(host.request(token, { method: 'GET', url }), etag);
    },
    pulls: (answer, branch) =>
      recordsIn(answer).flatMap((each) => {
        if (textAt(each, 'base', 'ref') !== branch) return [];
        return pullOf(valueAt(each, 'number'), valueAt(each, 'head', 'sha'), isFromFork(each));
      }),
    ref: (number) => `refs/pull/${number}/head`,
    commentsRequest({ project, token }, number, page) {
      const pages = more.isPaged ? `?per_page=${COMMENTS_PER_PAGE}&page=${page}` : '';
      const url = urlOf(project, `issues/${number}/comments${pages}`);
      return listed(host.request(token, { method: 'GET', url }));
    },
    comments: commentsIn,
    commentRequest({ project, token }, { number, comment, body }) {
      const path = comment === undefined ? `issues/${number}/comments` : `issues/comments/${comment}`;
      const method = comment === undefined ? 'POST' : 'PATCH';
      return host.request(token, { method, url: urlOf(project, path), body: { body } });
    },
  };
}

/**
 * Tells whether its author may have no right to push. The repository of a fork that was deleted is null. With the AGit flow of Gitea
 * (`git push origin HEAD:refs/for/main`) everybody who may read creates pull requests: these name the repository itself, and no branch of it.
 */
function isFromFork(pull: JsonRecord): boolean {
  const isElsewhere = valueAt(pull, 'head', 'repo', 'id') !== valueAt(pull, 'base', 'repo', 'id');
  return isElsewhere || textAt(pull, 'head', 'ref')?.startsWith('refs/') === true;
}

/** See https://docs.github.com/rest/pulls and https://docs.github.com/rest/issues/comments. */
export const githubPulls = createIssueAdapter({
  type: 'GitHub',
  query: (branch) =>
    `state=open&base=${encodeURIComponent(branch)}&sort=updated&direction=desc&per_page=${PULLS_PER_PAGE}`,
  isPaged: true,
  permission: 'Pull requests: write and Commit statuses: write (fine-grained token), or the scope repo',
});

/** See https://docs.gitea.com/api. It answers all comments at once, and older versions ignore `base_branch`. */
export const giteaPulls = createIssueAdapter({
  type: 'Gitea',
  query: (branch) =>
    `state=open&base_branch=${encodeURIComponent(branch)}&sort=recentupdate&limit=${PULLS_PER_PAGE}`,
  isPaged: false,
  permission: 'the scopes write:repository and write:issue, and the right to write to the repository',
});
