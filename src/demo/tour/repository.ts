/** The git repository of the demo: the only one that the tour changes. */
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { CliError, EXIT } from '../../cli/errors.ts';
import { shellWord } from '../../cli/runnable.ts';
import { demoGit } from '../template/demo-git.ts';

/** The author of the commits of the tour, so that they differ from those of the user. */
const [NAME, EMAIL] = ['kubenode tour', 'tour@localhost'];
const AUTHOR = ['-c', `user.name=${NAME}`, '-c', `user.email=${EMAIL}`];
/** The same author in the environment, for the commits of commands that the tour runs. */
export const TOUR_AUTHOR = {
  GIT_AUTHOR_NAME: NAME,
  GIT_AUTHOR_EMAIL: EMAIL,
  GIT_COMMITTER_NAME: NAME,
  GIT_COMMITTER_EMAIL: EMAIL,
};

export interface DemoRepository {
  readonly folder: string;
  head(): Promise<string>;
  /** The number of commits up to the head. */
  commits(): Promise<number>;
  read(file: string): Promise<string>;
  /** Rejects when nothing changes: the file has another form than that of the demo. */
  edit(file: string, change: (text: string) => string): Promise<void>;
  /** Writes a new file, which the next commit contains. */
  add(file: string, text: string): Promise<void>;
  /** Takes edits back that are not committed. */
  discard(): Promise<void>;
  /** Resolves to the new head. */
  commit(message: string): Promise<string>;
  /** Reverts this commit. Resolves to the new head. */
  revert(commit: string): Promise<string>;
  /** Signs the newest commit. Resolves to the new head. */
  sign(sign: (commit: string) => string): Promise<string>;
  /** Drops the commits after this one. */
  dropAfter(commit: string): Promise<void>;
}

export async function openDemoRepository(folder: string): Promise<DemoRepository> {
  const git = (...args: readonly string[]): Promise<string> => demoGit(folder, ...args);
  if (!existsSync(join(folder, 'fleet/local.json'))) {
    throw new CliError('the repository of this fleet is not one of the demo', {
      where: folder,
      hint: 'start the demo with: kubenode start --demo FOLDER',
      exitCode: EXIT.badInput,
    });
  }
  const changed = await git('status', '--porcelain', '--untracked-files=no');
  if (changed !== '') {
    throw new CliError('the repository has changes that are not committed', {
      where: `${folder}: ${changed.split('\n').join(', ')}`,
      hint: `commit them, or discard them with: git -C ${shellWord(folder)} checkout .`,
      exitCode: EXIT.badInput,
    });
  }
  const head = (): Promise<string> => git('rev-parse', 'HEAD');
  return {
    folder,
    head,
    commits: async () => Number(await git('rev-list', '--count', 'HEAD')),
    read: (file) => readFile(join(folder, file), 'utf8'),
    async edit(file, change) {
      const before = await readFile(join(folder, file), 'utf8');
      const after = change(before);
      if (after === before) {
        throw new CliError('the file does not have the form that the demo gave it', {
          where: join(folder, file),
          hint: 'use a new repository: kubenode start --demo FOLDER',
          exitCode: EXIT.badInput,
        });
      }
      await writeFile(join(folder, file), after);
    },
    async add(file, text) {
      const path = join(folder, file);
      await mkdir(dirname(path), { recursive: true });
      await writeFile(path, text);
      await git('add', '--', file);
    },
    async discard() {
      await git('checkout', '--quiet', '--', 'fleet', 'rules');
    },
    async commit(message) {
      await git(...AUTHOR, 'commit', '--quiet', '-am', message);
      return await head();
    },
    async revert(commit) {
      await git(...AUTHOR, 'revert', '--no-edit', commit);
      return await head();
    },
    async sign(sign) {
      const unsigned = `${await git('cat-file', 'commit', 'HEAD')}\n`;
      const file = join(folder, '.git/kubenode-tour-commit');
      await writeFile(file, signedCommit(unsigned, sign(unsigned)));
      await git('update-ref', 'HEAD', await git('hash-object', '-t', 'commit', '-w', file));
      await rm(file);
      return await head();
    },
    async dropAfter(commit) {
      await git('reset', '--hard', '--quiet', commit);
    },
  };
}

/** The signature is the last header of a commit, and each of its lines after the first begins with a space. */
function signedCommit(commit: string, signature: string): string {
  const end = commit.indexOf('\n\n');
  return `${commit.slice(0, end)}\ngpgsig ${signature.replaceAll('\n', '\n ')}${commit.slice(end)}`;
}
