import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command } from 'commander';
import { isGitError } from '../../../sync/git/errors.ts';
import { parseRepository } from '../../../sync/git/repository-url.ts';
import { CliError, EXIT } from '../../errors.ts';
import type { Io } from '../../io.ts';
import { VERSION } from '../version.ts';
import { isFree, scaffold } from './scaffold.ts';

interface Flags {
  readonly plain?: true;
  readonly repository?: string;
  readonly kubenode?: string;
  readonly git: boolean;
}

const HELP = `
The new repository has three clusters (test, pre, prod), a pipeline through them, a test, and CI files for GitHub and GitLab
that post the plan on a pull request. With --plain it holds plain Kubernetes objects in place of machines and rules.

Examples:
  kubenode init ../my-fleet
  kubenode init ../my-fleet --plain
  kubenode init ../my-fleet --repository git@git.example.com:platform/fleet`;

export function initCommand(io: Io): Command {
  return new Command('init')
    .description('make a fleet repository')
    .argument('<dir>', 'a new or empty folder')
    .option('--plain', 'plain Kubernetes objects: no machines, no rules')
    .option('--repository <url>', 'where sync will read it (default: the folder itself, as file://…)')
    .option('--kubenode <spec>', 'what package.json asks for: a version range, or file:… of a tarball')
    .option('--no-git', 'do not run git init')
    .addHelpText('after', HELP)
    .action((dir: string, flags: Flags) => init(io, resolve(io.cwd, dir), flags));
}

function init(io: Io, folder: string, flags: Flags): void {
  if (!isFree(folder)) {
    throw new CliError('the folder is not empty', {
      where: folder,
      hint: 'name a new folder, or an empty one',
      exitCode: EXIT.badInput,
    });
  }
  const files = scaffold({
    plain: flags.plain === true,
    repository: repositoryOf(folder, flags),
    kubenode: flags.kubenode ?? `^${VERSION}`,
    name: nameOf(folder),
  });
  for (const [path, text] of files) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { flag: 'wx' });
  }
  const hasGit = flags.git && gitInit(io, folder);
  io.out(`${files.size} files in ${folder}\n`);
  io.err(nextSteps(relative(io.cwd, folder) || '.', hasGit));
}

function repositoryOf(folder: string, { repository }: Flags): string {
  if (repository === undefined) return pathToFileURL(folder).href;
  try {
    return parseRepository(repository).url;
  } catch (error) {
    if (!isGitError(error)) throw error;
    throw new CliError(error.message, {
      where: '--repository',
      exitCode: EXIT.usage,
      ...(error.hint ? { hint: error.hint } : {}),
    });
  }
}

/** A name that npm takes. */
function nameOf(folder: string): string {
  const name = basename(folder)
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' || name === 'kubenode' ? 'my-fleet' : name;
}

/** True when the folder is a repository in the end. Without git the person is told what to do. */
function gitInit(io: Io, folder: string): boolean {
  if (existsSync(join(folder, '.git'))) return true;
  try {
    execFileSync('git', ['init', '--quiet', '--initial-branch=main', folder], { stdio: 'ignore' });
    return true;
  } catch {
    io.err('git could not be run: make it a repository yourself (git init)\n');
    return false;
  }
}

function nextSteps(folder: string, hasGit: boolean): string {
  return `Next:
  cd ${folder}${hasGit ? '' : ' && git init --initial-branch=main'}
  git add . && git commit -m "The fleet"
  npx kubenode render .    # what sync would apply
`;
}
