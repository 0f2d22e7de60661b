/** Read-only access to a local repository: for `plan` and `render` of a commit that was not pushed. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { createCatFileReader } from './command/cat-file.ts';
import { gitArguments, gitEnvironment, runGit, spawnGit } from './command/process.ts';
import { GitError } from './errors.ts';
import { createGitRepository } from './repository.ts';
import type { GitRepository } from './transport.ts';

const TIMEOUT_MS = 30_000;

export interface WorkingTree extends GitRepository {
  /** The top-level folder of the working tree. */
  readonly root: string;
  /** Resolves a revision (`HEAD~1`, a branch, a tag) to its commit. */
  resolve(revision: string): Promise<string>;
}

export async function openWorkingTree(folder: string): Promise<WorkingTree> {
  const env = gitEnvironment(process.env['HOME'] ?? '/');
  const [root = '', gitdir = ''] = (
    await inFolder(['rev-parse', '--show-toplevel', '--absolute-git-dir'])
  ).split('\n');
  const repository = createGitRepository({
    display: root,
    open: () => createCatFileReader(() => spawnGit(gitArguments(gitdir, ['cat-file', '--batch']), env)),
  });
  return { ...repository, root, resolve: resolveRevision };

  async function resolveRevision(revision: string): Promise<string> {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
    const { code, stdout } = await runGit({ args: gitArguments(gitdir, args), env, timeoutMs: TIMEOUT_MS });
    const oid = stdout.split('\n').find((line) => /^[0-9a-f]{40,64}$/.test(line));
    if (code === 0 && oid) return oid;
    throw new GitError('NotFoundRef', `${JSON.stringify(revision)} is not a commit of this repository`, {
      where: root,
      hint: 'name a branch, a tag or a commit that `git log` shows (in CI: fetch more than one commit)',
    });
  }

  async function inFolder(args: readonly string[]): Promise<string> {
    const path = resolve(folder);
    const { code, stdout, stderr } = await runGit({
      args: ['-C', path, ...args],
      env,
      timeoutMs: TIMEOUT_MS,
    });
    if (code === 0) return stdout;
    if (!existsSync(path)) {
      const hint = 'name the folder of the fleet repository';
      throw new GitError('NotFoundRepository', 'this folder does not exist', { where: path, hint });
    }
    const because = /dubious ownership/.test(stderr)
      ? 'belongs to another user'
      : 'is not in a git repository';
    throw new GitError('NotFoundRepository', `this folder ${because}`, {
      where: path,
      hint: 'run `git init` and commit first, or name another folder',
    });
  }
}
