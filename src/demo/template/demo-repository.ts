/** Creates the repository of the demo fleet with its first commit, where it does not exist yet. */
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CliError, EXIT } from '../../cli/errors.ts';
import type { StepProgress } from '../../cli/progress.ts';
import { buildPrograms } from './demo.ts';
import { demoGit } from './demo-git.ts';
import type { RunNpm } from './npm.ts';
import {
  formatLockFailure,
  packageName,
  type RepositoryFiles,
  scaffoldFiles,
  vendoredFiles,
  writeFiles,
} from './repository-files.ts';
import { PACKAGE_ROOT } from './scaffold.ts';

/** The author of the first commit. The commits that follow are those of the user. */
const AUTHOR = ['-c', 'user.name=kubenode', '-c', 'user.email=kubenode@localhost'];

export interface DemoRepositoryOptions {
  readonly progress: StepProgress;
  readonly npm: RunNpm;
  /** Resolves to the tarball of the kubenode that runs. */
  readonly packed: () => Promise<string>;
}

/**
 * Creates or completes the repository of the demo. One that exists is used as it is; one of a start that ended before the first commit is
 * completed. Resolves to a warning about what the repository lacks: the fleet runs without it.
 */
export async function ensureDemoRepository(
  folder: string,
  options: DemoRepositoryOptions,
): Promise<string | undefined> {
  await buildPrograms(options.progress);
  if (await isComplete(folder)) return undefined;
  const { files, warning } = await filesOf(folder, options);
  await completeRepository(folder, files, options.progress);
  return warning;
}

interface DemoFiles {
  readonly files: RepositoryFiles;
  readonly warning: string | undefined;
}

/**
 * Returns the files of the repository. A fleet whose repository has no kubenode still runs, and is edited beside a checkout of kubenode.
 */
async function filesOf(folder: string, { npm, packed }: DemoRepositoryOptions): Promise<DemoFiles> {
  const content = {
    content: 'Demo',
    repository: pathToFileURL(folder).href,
    name: packageName(folder),
  } as const;
  try {
    const { files, lockFailed } = await vendoredFiles(folder, content, { tarball: await packed(), npm });
    return { files, warning: lockFailed && formatLockFailure(lockFailed) };
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    const files = await scaffoldFiles(folder, { ...content, kubenode: `file:${PACKAGE_ROOT}` });
    return { files, warning: formatPackFailure(error) };
  }
}

function formatPackFailure({ message }: Error): string {
  return `warning: the repository does not contain kubenode, and depends on ${PACKAGE_ROOT}: ${message}
  hint: remove this cause, and start with another folder for a repository that has its own
`;
}

export async function completeRepository(
  folder: string,
  files: RepositoryFiles,
  progress: StepProgress,
): Promise<void> {
  if (await isComplete(folder)) return;
  if (isUnfinished(folder, files)) {
    progress.step(`creating the repository ${folder}`);
    writeFiles(folder, files, 'w');
  } else if (!isDemo(folder)) {
    throw new CliError('the folder is not empty, and not a repository of the demo', {
      where: folder,
      hint: 'use a new or empty folder',
      exitCode: EXIT.badInput,
    });
  }
  await commitAll(folder);
}

async function isComplete(folder: string): Promise<boolean> {
  return isDemo(folder) && (await hasCommit(folder));
}

function isDemo(folder: string): boolean {
  return existsSync(join(folder, 'fleet/local.json'));
}

/** Tells whether the folder is missing, empty, or contains nothing but these files, each of them whole or cut off. */
function isUnfinished(folder: string, files: RepositoryFiles): boolean {
  if (!existsSync(folder)) return true;
  if (!statSync(folder).isDirectory()) return false;
  const ours = new Set([...files.keys()].map((path) => path.split('/')[0]));
  const isOurs = (path: string): boolean => {
    const found = readFileSync(join(folder, path));
    const whole = files.get(path);
    return whole !== undefined && Buffer.from(whole).subarray(0, found.length).equals(found);
  };
  // Nothing else is looked into: it may be a home directory.
  return readdirSync(folder)
    .filter((name) => name !== '.git')
    .every((name) => ours.has(name) && filesBelow(folder, name).every(isOurs));
}

/** Lists the files below a folder; for a file, only that file. */
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
