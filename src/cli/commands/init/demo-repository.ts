/** The repository of the demo fleet with its first commit, made where it does not exist yet. */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, EXIT } from '../../errors.ts';
import type { StepProgress } from '../../progress.ts';
import { buildPrograms } from './demo.ts';
import { demoGit } from './demo-git.ts';
import { packageName, scaffoldFiles, writeFiles } from './init.ts';
import { PACKAGE_ROOT } from './scaffold.ts';

/** Of the first commit: those that follow are of the user. */
const AUTHOR = ['-c', 'user.name=kubenode', '-c', 'user.email=kubenode@localhost'];

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
  const isOurs = (path: string): boolean =>
    files.get(path)?.startsWith(readFileSync(join(folder, path), 'utf8')) === true;
  // Nothing else is looked into: it may be a home directory.
  return readdirSync(folder)
    .filter((name) => name !== '.git')
    .every((name) => ours.has(name) && filesBelow(folder, name).every(isOurs));
}

/** Of a file, only itself. */
function filesBelow(root: string, path: string): readonly string[] {
  if (!lstatSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => filesBelow(root, `${path}/${name}`));
}

async function hasCommit(folder: string): Promise<boolean> {
  if (!existsSync(join(folder, '.git'))) return false;
  return await demoGit(folder, 'rev-parse', '--verify', '--quiet', 'HEAD').then(
    () => true,
    () => false,
  );
}

async function commitAll(folder: string): Promise<void> {
  await demoGit(folder, 'init', '--quiet', '--initial-branch=main');
  await demoGit(folder, 'add', '.');
  await demoGit(folder, ...AUTHOR, 'commit', '--quiet', '-m', 'The fleet');
}
