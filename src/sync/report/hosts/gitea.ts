/** Commit statuses of Gitea and Forgejo: https://docs.gitea.com/api. */
import type { CommitStatus } from '../desired-statuses.ts';
import { encodePath, type GitHostAdapter, jsonRequest } from './adapter.ts';

/** `skipped` came with Gitea 1.24, and Forgejo lacks it; both have `warning`. */
const STATES: Readonly<Record<CommitStatus['state'], string>> = {
  Pending: 'pending',
  Succeeded: 'success',
  Failed: 'failure',
  Superseded: 'warning',
};

export const gitea: GitHostAdapter = {
  apiUrl: (base) => `${base}/api/v1`,
  request: (token, call) => jsonRequest(call, `token ${token}`),
  statusRequest({ base, path, context, link }, { commit, state, message }, token) {
    const url = `${gitea.apiUrl(base)}/repos/${encodePath(path)}/statuses/${encodePath(commit)}`;
    const target = link === undefined ? {} : { target_url: link };
    const body = { state: STATES[state], context, description: message, ...target };
    return gitea.request(token, { method: 'POST', url, body });
  },
  hasState: () => false,
  permission: 'the scope write:repository, and the right to write to the repository',
};
