/**
 * Sync as a process that a test kills, stops and freezes. Everything is real except the render, which reads the objects from a
 * file of the commit instead of running a program. Arguments: kubeconfig, cache folder, identity.
 */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { connect } from '../../../../src/kube/client/connect.ts';
import { createLogger } from '../../../../src/kube/process/logger.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { systemRandom } from '../../../../src/os/system-random.ts';
import type { CommitRender, CommitResult } from '../../../../src/sync/render/renderer.ts';
import { readResult } from '../../../../src/sync/render/result.ts';
import { startSync } from '../../../../src/sync/sync.ts';
import { judgedRenderer } from '../../../support/judged-renderer.ts';
import { RENDERED_FILE } from './rendered-file.ts';

const [kubeconfig = '', folder = '', identity = ''] = process.argv.slice(2);
const clock = createSystemClock();
const ending = new AbortController();
process.once('SIGTERM', () => ending.abort());
// The pipe closes when the test ends, however it ends.
process.stdin.once('end', () => process.exit(1)).resume();

const renderer = judgedRenderer(commit);
const sync = await startSync(
  {
    connectHub: (fence) => connect({ kubeconfig, ...(fence ? { fence } : {}) }),
    identity,
    renderer,
    gitFolder: join(folder, 'git'),
    clock,
    log: createLogger({ clock }),
    random: systemRandom,
  },
  ending.signal,
);
await new Promise<void>((resolve) => {
  ending.signal.addEventListener('abort', () => resolve(), { once: true });
  if (ending.signal.aborted) resolve();
});
await sync.close();
process.exit(0);

/** The lines of the file are those that a sandboxed program writes, so they are checked in the same way. */
async function commit({ git, commit: oid }: CommitRender): Promise<CommitResult> {
  const root = await mkdtemp(join(folder, 'export-'));
  try {
    await git.exportTree(oid, root);
    const { targets, warnings } = readResult(await readFile(join(root, RENDERED_FILE)));
    return { rendered: { commit: oid, targets }, warnings };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}
