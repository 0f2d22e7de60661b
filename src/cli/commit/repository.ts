/** The local fleet repository in which a command commits for its user: with the user's git, name, hooks and signature. */
import { execFile } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Pipeline } from '../../api/generated/types.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';

const run = promisify(execFile);
/** The names of some hundred thousand files. */
const MAX_OUTPUT = 64 * 1024 * 1024;

export interface LocalRepository {
  readonly root: string;
  readonly branch: string;
  /** Rejects with what git printed. */
  readonly git: (...args: readonly string[]) => Promise<string>;
}

/** Rejects unless a commit here changes only what is asked for, and can reach the Pipeline. */
export async function openLocalRepository(
  io: Pick<Io, 'env' | 'signal'>,
  folder: string,
  pipeline: Pipeline,
): Promise<LocalRepository> {
  const inFolder = (...args: readonly string[]): Promise<string> => runGit(io, folder, args);
  const root = await inFolder('rev-parse', '--show-toplevel').catch((error: unknown) =>
    (error as { readonly code?: unknown }).code === 'ENOENT'
      ? refuse('the program git was not found', folder, 'install git')
      : refuse('this folder is not in a git repository', folder, 'name the fleet repository with --repo'),
  );
  const git = (...args: readonly string[]): Promise<string> => runGit(io, root, args);
  const urls = (await git('config', '--get-regexp', String.raw`^remote\..*\.(push)?url$`).catch(() => ''))
    .split('\n')
    .flatMap((line) => line.split(' ').slice(1));
  const { repository } = pipeline.spec.source;
  if (!isSameRepository(repository, [root, ...urls])) {
    refuse(
      `this is not the repository of Pipeline ${pipeline.metadata.name}: expected ${repository}, found ${urls.join(', ') || 'no remote'}`,
      root,
      'name the fleet repository with --repo',
    );
  }
  const branch = await git('symbolic-ref', '--quiet', '--short', 'HEAD').catch(() =>
    refuse('no branch is checked out (detached HEAD)', root, 'check out a branch: git switch NAME'),
  );
  const changes = await git('status', '--porcelain');
  if (changes !== '') {
    const first = changes.split('\n').slice(0, 3).join(', ');
    refuse(`the working tree has changes: ${first}`, root, 'commit or stash them first');
  }
  await checkContains(git, root, pipeline);
  return { root, branch, git };
}

/** Otherwise the commit could not be pushed, or would be held as not descending from the accepted head. */
async function checkContains(
  git: LocalRepository['git'],
  root: string,
  { metadata, status }: Pipeline,
): Promise<void> {
  const head = status?.head?.commit;
  if (head === undefined) return;
  await git('merge-base', '--is-ancestor', head, 'HEAD').catch(() =>
    refuse(
      `HEAD does not contain ${head}, the head of Pipeline ${metadata.name}`,
      root,
      'run git pull first',
    ),
  );
}

function refuse(what: string, where: string, hint: string): never {
  throw new CliError(`nothing was committed: ${what}`, { where, hint, exitCode: EXIT.badInput });
}

async function runGit(
  { env, signal }: Pick<Io, 'env' | 'signal'>,
  folder: string,
  args: readonly string[],
): Promise<string> {
  const { stdout } = await run('git', ['-C', folder, ...args], { env, signal, maxBuffer: MAX_OUTPUT });
  return stdout.trimEnd();
}

/** By host and path: a person may push by ssh what sync reads by https. A folder is compared by its real path. */
export function isSameRepository(repository: string, others: readonly string[]): boolean {
  const expected = addressOf(repository);
  return others.some((other) => addressOf(other) === expected);
}

const SCP_LIKE = /^(?:[^@/]+@)?(?<host>[^:/@]+):(?!\/\/)\/?(?<path>.+)$/;

function addressOf(text: string): string {
  const { host, path } = SCP_LIKE.exec(text)?.groups ?? {};
  return (host === undefined ? urlAddress(text) : `${host}/${path}`).replace(/\/?(\.git)?\/?$/, '');
}

function urlAddress(text: string): string {
  if (!URL.canParse(text)) return realPath(text);
  const url = new URL(text);
  return url.protocol === 'file:' ? realPath(fileURLToPath(url)) : `${url.hostname}${url.pathname}`;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
