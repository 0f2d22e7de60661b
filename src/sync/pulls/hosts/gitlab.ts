/** The merge requests of GitLab: https://docs.gitlab.com/api/merge_requests and https://docs.gitlab.com/api/notes. */
import { textAt, valueAt } from '../../../kube/objects/json.ts';
import type { GitHostProject } from '../../report/git-host.ts';
import { gitlab } from '../../report/hosts/gitlab.ts';
import { COMMENTS_PER_PAGE, listed, PULLS_PER_PAGE, type PullAdapter } from './adapter.ts';
import { commentsIn, pullOf, recordsIn } from './entries.ts';

export const gitlabPulls: PullAdapter = {
  listRequest({ project, token }, { branch, page, etag }) {
    const query = `state=opened&target_branch=${encodeURIComponent(branch)}&order_by=updated_at&sort=desc&per_page=${PULLS_PER_PAGE}&page=${page}`;
    const url = urlOf(project, `?${query}`);
    return listed(gitlab.request(token, { method: 'GET', url }), etag);
  },
  pulls: (answer, branch) =>
    recordsIn(answer).flatMap((each) => {
      if (textAt(each, 'target_branch') !== branch) return [];
      const isFork = valueAt(each, 'source_project_id') !== valueAt(each, 'target_project_id');
      return pullOf(valueAt(each, 'iid'), valueAt(each, 'sha'), isFork);
    }),
  ref: (number) => `refs/merge-requests/${number}/head`,
  commentsRequest({ project, token }, number, page) {
    const query = `order_by=created_at&sort=asc&per_page=${COMMENTS_PER_PAGE}&page=${page}`;
    const url = urlOf(project, `/${number}/notes?${query}`);
    return listed(gitlab.request(token, { method: 'GET', url }));
  },
  comments: commentsIn,
  isPaged: true,
  commentRequest({ project, token }, { number, comment, body }) {
    const path = comment === undefined ? `/${number}/notes` : `/${number}/notes/${comment}`;
    const method = comment === undefined ? 'POST' : 'PUT';
    return gitlab.request(token, { method, url: urlOf(project, path), body: { body } });
  },
  permission: gitlab.permission,
};

function urlOf({ base, path }: GitHostProject, rest: string): string {
  return `${gitlab.apiUrl(base)}/projects/${encodeURIComponent(path)}/merge_requests${rest}`;
}
