/** A renderer of tests that renders without a sandbox: it judges in this process, with the checks of sync. */
import { createCommitChecks } from '../../src/cli/checks/commit-checks.ts';
import { judgeContent } from '../../src/sync/judge/content.ts';
import type { CommitRenderer } from '../../src/sync/render/renderer.ts';

export function judgedRenderer(commit: CommitRenderer['commit']): CommitRenderer {
  const checks = createCommitChecks();
  return {
    commit,
    async judge(request) {
      const result = await commit(request);
      return { ...result, verdict: await judgeContent(result.rendered, checks) };
    },
  };
}
