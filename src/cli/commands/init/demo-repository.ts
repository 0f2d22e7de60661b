/** The repository of the demo fleet with its first commit, made where it does not exist yet. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { CliError, EXIT } from '../../errors.ts';
import type { StepProgress } from '../../progress.ts';
import { buildPrograms } from './demo.ts';
import { createFiles, packageName } from './init.ts';
import { isEmptyFolder, PACKAGE_ROOT } from './scaffold.ts';

const run = promisify(execFile);

/** Of the first commit: those that follow are of the user. */
const AUTHOR = ['-c', 'user.name=kubenode', '-c', 'user.email=kubenode@localhost'];

/** A repository of the demo that exists is used as it is. */
export async function ensureDemoRepository(folder: string, progress: StepProgress): Promise<void> {
  const isDemo = existsSync(join(folder, 'fleet/local.json'));
  if (!isDemo && !isEmptyFolder(folder)) {
    throw new CliError('the folder is not empty, and not a repository of the demo', {
      where: folder,
      hint: 'use a new or empty folder',
      exitCode: EXIT.badInput,
    });
  }
  await buildPrograms(progress);
  if (!isDemo) await create(folder, progress);
  // Also after a start that was ended between the files and the commit.
  if (!(await hasCommit(folder))) await commitAll(folder);
}

async function create(folder: string, progress: StepProgress): Promise<void> {
  progress.step(`creating the repository ${folder}`);
  await createFiles(folder, {
    content: 'Demo',
    repository: pathToFileURL(folder).href,
    kubenode: `file:${PACKAGE_ROOT}`,
    name: packageName(folder),
  });
}

async function hasCommit(folder: string): Promise<boolean> {
  const args = ['-C', folder, 'rev-parse', '--verify', '--quiet', 'HEAD'];
  return existsSync(join(folder, '.git')) && (await succeeds('git', args));
}

async function succeeds(program: string, args: readonly string[]): Promise<boolean> {
  return await run(program, args).then(
    () => true,
    () => false,
  );
}

async function commitAll(folder: string): Promise<void> {
  try {
    await run('git', ['init', '--quiet', '--initial-branch=main', folder]);
    await run('git', ['-C', folder, 'add', '.']);
    await run('git', ['-C', folder, ...AUTHOR, 'commit', '--quiet', '-m', 'The fleet']);
  } catch (error) {
    throw new CliError('the first commit could not be made', {
      where: folder,
      hint: 'install git, and run the command again',
      exitCode: EXIT.unavailable,
      cause: error,
    });
  }
}
