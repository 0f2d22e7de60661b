/** The repository of the demo fleet with its first commit, made where it does not exist yet. */
import { execFile } from 'node:child_process';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { systemCode } from '../../../os/errors.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { StepProgress } from '../../progress.ts';
import { buildPrograms } from './demo.ts';
import { packageName, scaffoldFiles, writeFiles } from './init.ts';
import { PACKAGE_ROOT } from './scaffold.ts';

/** Hooks and signatures that a user requires everywhere are for commits of the user. */
export const UNSIGNED = ['-c', 'commit.gpgSign=false', '-c', 'core.hooksPath=/dev/null'] as const;
/** Of the first commit: those that follow are of the user. */
const AUTHOR = ['-c', 'user.name=kubenode', '-c', 'user.email=kubenode@localhost', ...UNSIGNED];

/** A repository of the demo that exists is used as it is. One of a start that ended before the first commit is completed. */
export async function ensureDemoRepository(folder: string, progress: StepProgress): Promise<void> {
  await buildPrograms(progress);
  const files = await scaffoldFiles(folder, {
    content: 'Demo',
    repository: pathToFileURL(folder).href,
    kubenode: `file:${PACKAGE_ROOT}`,
    name: packageName(folder),
  });
  await completeRepository(folder, files, progress);
}

export async function completeRepository(
  folder: string,
  files: ReadonlyMap<string, string>,
  progress: StepProgress,
): Promise<void> {
  const isDemo = existsSync(join(folder, 'fleet/local.json'));
  if (isDemo && (await hasCommit(folder))) return;
  if (isUnfinished(folder, files)) {
    progress.step(`creating the repository ${folder}`);
    writeFiles(folder, files, 'w');
  } else if (!isDemo) {
    throw new CliError('the folder is not empty, and not a repository of the demo', {
      where: folder,
      hint: 'use a new or empty folder',
      exitCode: EXIT.badInput,
    });
  }
  await commitAll(folder);
}

/** Missing, empty, or with nothing but these files, each of them whole or cut off. */
function isUnfinished(folder: string, files: ReadonlyMap<string, string>): boolean {
  if (!existsSync(folder)) return true;
  if (!statSync(folder).isDirectory()) return false;
  const ours = new Set([...files.keys()].map((path) => path.split('/')[0]));
  const names = readdirSync(folder).filter((name) => name !== '.git');
  // Nothing else is looked into: it may be a home directory.
  if (!names.every((name) => ours.has(name))) return false;
  return names
    .flatMap((name) => filesBelow(folder, name))
    .every((path) => files.get(path)?.startsWith(readFileSync(join(folder, path), 'utf8')) === true);
}

/** Of a file, only itself. */
function filesBelow(root: string, path: string): readonly string[] {
  if (!lstatSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesBelow(root, `${path}/${name}`));
}

async function hasCommit(folder: string): Promise<boolean> {
  if (!existsSync(join(folder, '.git'))) return false;
  return await git('-C', folder, 'rev-parse', '--verify', '--quiet', 'HEAD').then(
    () => true,
    () => false,
  );
}

async function commitAll(folder: string): Promise<void> {
  await git('init', '--quiet', '--initial-branch=main', folder);
  await git('-C', folder, 'add', '.');
  await git('-C', folder, ...AUTHOR, 'commit', '--quiet', '-m', 'The fleet');
}

async function git(...args: readonly string[]): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    execFile('git', args, (error, _, stderr) => {
      if (!error) resolve();
      else if (systemCode(error) === 'ENOENT') reject(gitError('git is not installed', 'install git', error));
      else reject(gitError(`git ${args.join(' ')} failed: ${stderr.trim()}`, 'remove this cause', error));
    });
  });
}

function gitError(what: string, hint: string, cause: unknown): CliError {
  return new CliError(what, {
    hint: `${hint}, and run the command again`,
    exitCode: EXIT.unavailable,
    cause,
  });
}
