/** The render worker of sync: renders a commit and judges it, in one process with limits. Never imported. */
import { judgeContent } from '../../sync/judge/content.ts';
import { serveRenders } from '../../sync/render/worker/serve.ts';
import { createCommitChecks } from '../checks/commit-checks.ts';

const checks = createCommitChecks();
serveRenders((result) => judgeContent(result, checks));
