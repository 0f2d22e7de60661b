/** Commit statuses of GitHub: https://docs.github.com/rest/commits/statuses. */
import type { CommitStatus } from '../desired-statuses.ts';
import { encodePath, type GitHostAdapter, jsonRequest } from './adapter.ts';

/** GitHub has no state for a commit that was replaced. Its own checks that are skipped count as success, too. */
const STATES: Readonly<Record<CommitStatus['state'], string>> = {
  Pending: 'pending',
  Succeeded: 'success',
  Failed: 'failure',
  Superseded: 'success',
};

export const github: GitHostAdapter = {
  apiUrl: (base) => (base === 'https://github.com' ? 'https://api.github.com' : `${base}/api/v3`),
  /** GitHub refuses requests without a name of the program. */
  request(token, call) {
    const request = jsonRequest(call, `Bearer ${token}`);
    const own = {
      accept: 'application/vnd.github+json',
      'x-github-api-version': '2022-11-28',
      'user-agent': 'kubenode',
    };
    return { ...request, headers: { ...request.headers, ...own } };
  },
  statusRequest({ base, path, context, link }, { commit, state, message }, token) {
    const url = `${github.apiUrl(base)}/repos/${encodePath(path)}/statuses/${encodePath(commit)}`;
    const target = link === undefined ? {} : { target_url: link };
    const body = { state: STATES[state], context, description: message, ...target };
    return github.request(token, { method: 'POST', url, body });
  },
  hasState: () => false,
  permission: 'Commit statuses: write (fine-grained token), or the scope repo:status',
};
