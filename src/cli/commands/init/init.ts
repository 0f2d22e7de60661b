import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../../api/names.ts';
import { isGitError } from '../../../sync/git/errors.ts';
import { parseRepository, type RepositoryUrl } from '../../../sync/git/repository-url.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { KUBENODE_VERSION } from '../version.ts';
import { createScaffold, isEmptyFolder, REPOSITORY_SECRET } from './scaffold.ts';

interface Flags {
  readonly plain?: true;
  readonly repository?: string;
  readonly kubenode?: string;
  readonly git: boolean;
}

const HELP = `
Creates a repository with three clusters (test, pre, prod), a pipeline through them, a test, and CI files for GitHub and
GitLab that post the plan on a pull request. To sync it takes these three and a hub: "kubenode local up --clusters 4" starts
all four on this machine. With --plain it contains plain Kubernetes objects instead of machines and rules.

Examples:
  kubenode init ../my-fleet
  kubenode init ../my-fleet --plain
  kubenode init ../my-fleet --repository git@git.example.com:platform/fleet`;

export function createInitCommand(io: Io): Command {
  return new Command('init')
    .description('create a fleet repository')
    .argument('<dir>', 'new or empty folder')
    .option('--plain', 'plain Kubernetes objects instead of machines and rules')
    .option('--repository <url>', 'URL from which sync fetches it (default: the folder itself, as file://…)')
    .option(
      '--kubenode <spec>',
      'kubenode dependency in package.json: a version range, or file:… of a tarball',
    )
    .option('--no-git', 'do not run git init')
    .addHelpText('after', HELP)
    .action((dir: string, flags: Flags) => init(io, resolve(io.cwd, dir), flags));
}

function init(io: Io, folder: string, flags: Flags): void {
  if (!isEmptyFolder(folder)) {
    throw new CliError('the folder is not empty', {
      where: folder,
      hint: 'use a new or empty folder',
      exitCode: EXIT.badInput,
    });
  }
  const repository = parseRepositoryFlag(folder, flags);
  const files = createScaffold({
    plain: flags.plain === true,
    repository: repository.url,
    kubenode: flags.kubenode ?? `^${KUBENODE_VERSION}`,
    name: packageName(folder),
  });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: 'wx' });
  }
  const hasGit = flags.git && initGit(io, folder);
  io.out(`${files.size} files created in ${folder}\n`);
  io.err(formatNextSteps(relative(io.cwd, folder) || '.', hasGit) + formatSecretSteps(repository));
}

function parseRepositoryFlag(folder: string, { repository }: Flags): RepositoryUrl {
  try {
    return parseRepository(repository ?? pathToFileURL(folder).href);
  } catch (error) {
    if (!isGitError(error)) throw error;
    throw new CliError(error.message, {
      where: '--repository',
      exitCode: EXIT.usage,
      ...(error.hint ? { hint: error.hint } : {}),
    });
  }
}

/** A valid npm package name. */
function packageName(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' || name === 'kubenode' ? 'my-fleet' : name;
}

/** Whether the folder is a git repository afterwards. */
function initGit(io: Io, folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  try {
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', folder], { stdio: 'ignore' });
    return true;
  } catch {
    io.err('git init failed: run it yourself, as in the commands below\n');
    return false;
  }
}

function formatNextSteps(folder: string, hasGit: boolean): string {
  return `Next:
  cd ${folder}${hasGit ? '' : ' && git init --initial-branch=main'}
  git add . && git commit -m "The fleet"
  npx kubenode render .    # print what sync would apply
It declares the clusters test, pre and prod, and sync needs a hub. To start all four on this machine, and to sync:
  npx kubenode local up --clusters 4
  npx kubenode sync --from .
`;
}

/** The Secret that the Pipeline references. A folder needs none. */
function formatSecretSteps({ scheme, host }: RepositoryUrl): string {
  if (scheme === 'file') return '';
  return `In the hub, with the ${scheme === 'ssh' ? 'private key' : 'token'} of the repository in the file token:
  kubectl -n ${NAMESPACE} create secret generic ${REPOSITORY_SECRET} --from-file=token
  kubectl -n ${NAMESPACE} annotate secret ${REPOSITORY_SECRET} '${ANNOTATION_SECRET_USE}=git; ${host}'
`;
}
