import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ANNOTATION_SECRET_USE, NAMESPACE } from '../../api/names.ts';
import { clusterNameReason } from '../../api/validation/cluster-name.ts';
import { buildPrograms } from '../../demo/template/demo.ts';
import { createNpm } from '../../demo/template/npm.ts';
import { packOwn } from '../../demo/template/package-cache.ts';
import {
  formatLockFailure,
  packageName,
  scaffoldFiles,
  vendoredFiles,
  writeFiles,
} from '../../demo/template/repository-files.ts';
import { isEmptyFolder, REPOSITORY_SECRET, type ScaffoldOptions } from '../../demo/template/scaffold.ts';
import { optional } from '../../kube/objects/optional.ts';
import { isGitError } from '../../sync/git/errors.ts';
import { parseRepository, type RepositoryUrl } from '../../sync/git/repository-url.ts';
import { CliError, EXIT } from '../errors.ts';
import type { Io } from '../io.ts';
import { type StepProgress, withProgress } from '../progress.ts';
import { shellWord } from '../runnable.ts';

interface Flags {
  readonly plain?: true;
  readonly demo?: true;
  readonly cluster?: string;
  readonly server?: string;
  readonly repository?: string;
  readonly kubenode?: string;
  readonly git: boolean;
}

const HELP = `
Creates a repository with three clusters (test, pre, prod), a pipeline through them, a test, and CI files for GitHub and
GitLab that post the plan on a pull request. To sync it takes these three and a hub: "kubenode local up --clusters 4" starts
all four on this machine. With --plain it contains plain Kubernetes objects instead of machines and rules. With --demo its
machines are folders of this computer, each with a real agent that runs a small web server: docs/guides/demo.md.

With --cluster it is for hosts that exist and one cluster, which is its own hub: kubenode import prints the hosts for it.

The repository contains this kubenode, as vendor/kubenode-VERSION.tgz, and a lock file: "npm ci" installs the same on every machine
and in CI. This takes npm; an installed kubenode also needs its package registry for the lock file, and creates everything else without it.

Examples:
  kubenode init ../my-fleet
  kubenode init ../my-fleet --plain
  kubenode init ../demo --demo
  kubenode init ../my-fleet --cluster prod-eu-1 --server https://api.example.com:6443
  kubenode init ../my-fleet --repository git@git.example.com:platform/fleet`;

export function createInitCommand(io: Io): Command {
  return new Command('init')
    .description('create a fleet repository')
    .argument('<dir>', 'new or empty folder')
    .option('--plain', 'plain Kubernetes objects instead of machines and rules')
    .addOption(new Option('--demo', 'machines that kubenode creates on this computer').conflicts('plain'))
    .addOption(
      new Option('--cluster <name>', 'one cluster with hosts that exist; needs --server')
        .conflicts(['plain', 'demo'])
        .argParser(parseClusterName),
    )
    .addOption(
      new Option('--server <url>', 'API server of --cluster as nodes reach it').argParser(parseServerUrl),
    )
    .option('--repository <url>', 'URL from which sync fetches it (default: the folder itself, as file://…)')
    .option(
      '--kubenode <spec>',
      'kubenode dependency in package.json instead of the vendored one: a version range, or file:… of a tarball',
    )
    .option('--no-git', 'do not run git init')
    .addHelpText('after', HELP)
    .action(async (dir: string, flags: Flags) => {
      await init(io, resolve(io.cwd, dir), flags);
    });
}

async function init(io: Io, folder: string, flags: Flags): Promise<void> {
  if (!isEmptyFolder(folder)) {
    throw new CliError('the folder is not empty', {
      where: folder,
      hint: 'use a new or empty folder',
      exitCode: EXIT.badInput,
    });
  }
  const repository = parseRepositoryFlag(folder, flags);
  const cluster = clusterOf(flags);
  const options = {
    content: contentOf(flags),
    repository: repository.url,
    name: packageName(folder),
    ...optional('cluster', cluster),
  };
  const created = await withProgress(io, async (progress) => {
    if (flags.demo) await buildPrograms(progress);
    return flags.kubenode === undefined
      ? await createWithKubenode(io, folder, options, progress)
      : { count: await createFiles(folder, { ...options, kubenode: flags.kubenode }), lockFailed: undefined };
  });
  const hasGit = flags.git && initGit(io, folder);
  io.out(`${created.count} files created in ${folder}\n`);
  if (created.lockFailed) io.err(formatLockFailure(created.lockFailed));
  const install = flags.kubenode === undefined && !created.lockFailed ? 'ci' : 'install';
  io.err(
    formatNextSteps(relative(io.cwd, folder) || '.', { hasGit, install, ...options }) +
      formatSecretSteps(repository),
  );
}

interface CreatedRepository {
  readonly count: number;
  /** Why the lock file was not written. */
  readonly lockFailed: Error | undefined;
}

/** Packs before it creates a file: a failure of npm leaves nothing behind. */
async function createWithKubenode(
  io: Io,
  folder: string,
  options: Omit<ScaffoldOptions, 'kubenode'>,
  progress: StepProgress,
): Promise<CreatedRepository> {
  const npm = createNpm(io);
  const tarball = await packOwn(io, npm, () => progress.step('packing kubenode (1 of 2)'));
  progress.step('writing package-lock.json (2 of 2)');
  const { files, lockFailed } = await vendoredFiles(folder, options, { tarball, npm });
  writeFiles(folder, files, 'wx');
  return { count: files.size, lockFailed };
}

async function createFiles(folder: string, options: ScaffoldOptions): Promise<number> {
  const files = await scaffoldFiles(folder, options);
  writeFiles(folder, files, 'wx');
  return files.size;
}

function clusterOf({ cluster, server }: Flags): ScaffoldOptions['cluster'] {
  if ((cluster === undefined) !== (server === undefined)) {
    throw new CliError('--cluster and --server belong together', {
      hint: 'name the cluster, and the URL at which nodes reach its API server',
      exitCode: EXIT.usage,
    });
  }
  return cluster === undefined || server === undefined ? undefined : { name: cluster, server };
}

function contentOf({ plain, demo, cluster }: Flags): ScaffoldOptions['content'] {
  if (cluster !== undefined) return 'Hosts';
  if (demo) return 'Demo';
  return plain ? 'Plain' : 'Fleet';
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

interface NextSteps extends Pick<ScaffoldOptions, 'content' | 'cluster'> {
  readonly hasGit: boolean;
  readonly install: 'ci' | 'install';
}

function formatNextSteps(folder: string, { hasGit, install, content, cluster }: NextSteps): string {
  if (cluster) return formatHostSteps(shellWord(folder), cluster.name);
  return `Next:
  cd ${shellWord(folder)}${hasGit ? '' : ' && git init --initial-branch=main'}
  npm ${install}
  git add . && git commit -m "The fleet"
  npx kubenode render .    # print what sync would apply
It declares the clusters test, pre and prod, and sync needs a hub. To start all four on this machine, and to sync:
  npx kubenode local up --clusters 4
${CONTROLLERS[content]}  npx kubenode sync --from .
${HOSTS[content]}`;
}

/** For a person who is where kubenode is: its programs of the agent are there. */
function formatHostSteps(folder: string, name: string): string {
  return `Next, with a context ${name} in the kubeconfig (docs/guides/hosts-to-nodes.md of kubenode explains each step):
  npx kubenode install --context ${name}
  npx kubenode cluster connect ${name} --context ${name}
  npx kubenode import HOST… --identity KEY --context ${name} --label pool=general --create-secret > ${folder}/fleet/hosts.ts
  git -C ${folder} add . && git -C ${folder} commit -m "The fleet"
  kubectl --context ${name} apply -f docs/guides/sync-add-ons.yaml    # what sync may grant to CoreDNS and kube-proxy
  npx kubenode controllers --context ${name}    # runs until Ctrl-C, as sync does
  npx kubenode sync --context ${name} --from ${folder}
`;
}

/** Without them nothing of kubenode is observed in a cluster, and sync waits. Plain objects need none. */
const CONTROLLERS: Readonly<Record<ScaffoldOptions['content'], string>> = {
  Hosts: '',
  Plain: '',
  Fleet: '  for c in test pre prod; do npx kubenode controllers --context $c 2> $c.log & done\n',
  Demo: '  for c in test pre prod; do npx kubenode controllers --context $c --local-machines $c 2> $c.log & done\n',
};

const HOSTS: Readonly<Record<ScaffoldOptions['content'], string>> = {
  Hosts: '',
  Plain: '',
  Fleet: `Its machines are Linux hosts with systemd: each waits for its host to join with a token (docs/guides/join-a-machine.md of kubenode):
  npx kubenode machine list --context test
  (umask 077; npx kubenode machine token NAME --context test > bootstrap.json)
  kubenode agent run --machine NAME --bootstrap bootstrap.json    # as root on the host
Without hosts: "npx kubenode init DIR --demo" creates a fleet whose machines this computer runs itself, Ready within minutes.
`,
  Demo: '',
};

/** The Secret that the Pipeline references. A folder needs none. */
function formatSecretSteps({ scheme, host }: RepositoryUrl): string {
  if (scheme === 'file') return '';
  return `In the hub, with the ${scheme === 'ssh' ? 'private key' : 'token'} of the repository in the file token:
  kubectl -n ${NAMESPACE} create secret generic ${REPOSITORY_SECRET} --from-file=token
  kubectl -n ${NAMESPACE} annotate secret ${REPOSITORY_SECRET} '${ANNOTATION_SECRET_USE}=git; ${host}'
`;
}

function parseClusterName(text: string): string {
  const reason = clusterNameReason(text);
  if (reason === undefined) return text;
  throw new InvalidArgumentError(`${reason}.`);
}

function parseServerUrl(text: string): string {
  if (URL.parse(text)?.protocol === 'https:') return text;
  throw new InvalidArgumentError('Expected a URL that begins with https://.');
}
