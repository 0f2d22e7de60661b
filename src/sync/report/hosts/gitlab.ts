/** Commit statuses of GitLab: https://docs.gitlab.com/api/commits. */
import type { CommitStatus } from '../desired-statuses.ts';
import { encodePath, type GitHostAdapter, jsonRequest } from './adapter.ts';

/** GitLab refuses to go from running back to pending, so a commit that waits is running, too. */
const STATES: Readonly<Record<CommitStatus['state'], string>> = {
  Pending: 'running',
  Succeeded: 'success',
  Failed: 'failed',
  Superseded: 'canceled',
};

export const gitlab: GitHostAdapter = {
  apiUrl: (base) => `${base}/api/v4`,
  request: (token, call) => jsonRequest(call, `Bearer ${token}`),
  statusRequest({ base, path, context, link }, { commit, state, message }, token) {
    const url = `${gitlab.apiUrl(base)}/projects/${encodeURIComponent(path)}/statuses/${encodePath(commit)}`;
    const target = link === undefined ? {} : { target_url: link };
    const body = { state: STATES[state], name: context, description: message, ...target };
    return gitlab.request(token, { method: 'POST', url, body });
  },
  /** A status that stays in its state is refused: 400 `Cannot transition status via :run from :running`. */
  hasState: ({ status, body }) => status === 400 && /Cannot transition status via/i.test(body),
  permission: 'the scope api, and the role Developer in the project',
};
