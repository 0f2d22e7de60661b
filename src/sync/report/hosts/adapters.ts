/** The adapters by the type of the git host. */
import type { GitHostType } from '../git-host.ts';
import type { GitHostAdapter } from './adapter.ts';
import { gitea } from './gitea.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';

export const GIT_HOST_ADAPTERS: Readonly<Record<GitHostType, GitHostAdapter>> = {
  GitHub: github,
  GitLab: gitlab,
  Gitea: gitea,
};
