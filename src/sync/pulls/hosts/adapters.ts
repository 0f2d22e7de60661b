/** The adapters of pull requests by the type of the git host. */
import type { GitHostType } from '../../report/git-host.ts';
import type { PullAdapter } from './adapter.ts';
import { gitlabPulls } from './gitlab.ts';
import { giteaPulls, githubPulls } from './issues.ts';

export const PULL_ADAPTERS: Readonly<Record<GitHostType, PullAdapter>> = {
  GitHub: githubPulls,
  GitLab: gitlabPulls,
  Gitea: giteaPulls,
};
