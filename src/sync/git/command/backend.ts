/** Reads git repositories over ssh and from local paths, with the git command. */
import { existsSync } from 'node:fs';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GitError } from '../errors.ts';
import { OID } from '../http/objects.ts';
import { countPacks } from '../http/pack.ts';
import { readShallow } from '../http/shallow.ts';
import { GIT_LIMITS, type GitOptions } from '../options.ts';
import type { RepositoryUrl } from '../repository-url.ts';
import type { FetchDepth, GitBackend } from '../transport.ts';
import { createCatFileReader } from './cat-file.ts';
import { commandError } from './errors.ts';
import { type GitOutput, gitArguments, gitEnvironment, runGit, spawnGit } from './process.ts';
import { createSshFiles, removeSshFiles, type SshFiles } from './ssh.ts';

const INIT_MARKER = 'kubenode-made';

export function createCommandBackend(repository: RepositoryUrl, options: GitOptions): GitBackend {
  const { url, display } = repository;
  const gitdir = options.folder;
  const git = createCommandRunner(repository, options);

  return {
    display,
    listRefs,
    fetch,
    open: () =>
      createCatFileReader(() =>
        spawnGit(gitArguments(gitdir, ['cat-file', '--batch']), gitEnvironment(gitdir)),
      ),
    packs: () => countPacks(gitdir),
    wipe,
    close: () => git.close(),
  };

  async function listRefs(signal?: AbortSignal, only?: string): Promise<ReadonlyMap<string, string>> {
    const patterns = only === undefined ? [] : [only];
    const { stdout } = await git.run(['ls-remote', '--quiet', '--', url, ...patterns], signal);
    const pairs = stdout.split('\n').flatMap((line): [string, string][] => {
      const [oid = '', ref = ''] = line.split('\t');
      return OID.test(oid) && !ref.endsWith('^{}') ? [[ref, oid]] : [];
    });
    return new Map(pairs);
  }

  async function fetch(refOrOid: string, depth: FetchDepth, signal?: AbortSignal): Promise<string> {
    await prepare(signal);
    const local = OID.test(refOrOid) ? `refs/kubenode/commits/${refOrOid}` : `refs/kubenode/${refOrOid}`;
    const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--force'];
    const args = [
      'fetch',
      ...flags,
      ...(await depthArguments(local, depth, signal)),
      '--',
      url,
      `+${refOrOid}:${local}`,
    ];
    const checkSize = await createSizeCheck(gitdir, { ...GIT_LIMITS, ...options.limits }.maxBytes, display);
    try {
      await git.run(args, signal, checkSize);
      const error = await checkSize();
      if (error) throw error;
    } catch (error) {
      await removeTemporaryFiles(gitdir);
      throw error;
    }
    return (await git.run(['rev-parse', '--verify', '--quiet', local], signal)).stdout.trim();
  }

  async function depthArguments(local: string, depth: FetchDepth, signal?: AbortSignal): Promise<string[]> {
    if (depth === 'new') return (await hasCommit(local, signal)) ? [] : ['--depth=1'];
    if (depth !== 'all') return [`--depth=${depth}`];
    // git fails to unshallow a complete repository.
    return (await readShallow(gitdir)).size > 0 ? ['--unshallow'] : [];
  }

  async function hasCommit(local: string, signal?: AbortSignal): Promise<boolean> {
    const found = await git.run(['cat-file', '-e', `${local}^{commit}`], signal).catch(() => undefined);
    return found !== undefined;
  }

  async function prepare(signal?: AbortSignal): Promise<void> {
    // Written last: what an interrupted init has left is removed, with its locks.
    const marker = join(gitdir, INIT_MARKER);
    if (await stat(marker).catch(() => undefined)) return removeTemporaryFiles(gitdir);
    await wipe();
    await mkdir(gitdir, { recursive: true });
    await git.run(['init', '--quiet', '--bare', '--template='], signal);
    await writeFile(marker, '');
  }

  async function wipe(): Promise<void> {
    await rm(gitdir, { recursive: true, force: true });
  }
}

interface CommandRunner {
  /** Rejects unless git exits with 0. */
  run(
    args: readonly string[],
    signal?: AbortSignal,
    check?: () => Promise<GitError | undefined>,
  ): Promise<GitOutput>;
  close(): Promise<void>;
}

/** Runs git with the ssh configuration that the scheme needs. */
function createCommandRunner({ scheme, url, display }: RepositoryUrl, options: GitOptions): CommandRunner {
  const { folder, credential, hostKeys } = options;
  let ssh: Promise<SshFiles> | undefined;
  return { run, close };

  async function run(
    args: readonly string[],
    signal?: AbortSignal,
    check?: () => Promise<GitError | undefined>,
  ): Promise<GitOutput> {
    const output = await runGit({
      // Listing refs has to work even when the local repository is damaged.
      args: gitArguments(args[0] === 'ls-remote' ? undefined : folder, args),
      env: gitEnvironment(folder, await sshEnvironment()),
      timeoutMs: { ...GIT_LIMITS, ...options.limits }.timeoutMs,
      ...(signal ? { signal } : {}),
      ...(check ? { check } : {}),
    });
    if (output.code === 0) return output;
    throw commandError(output.stderr, display, scheme === 'file' && existsSync(fileURLToPath(url)));
  }

  async function sshEnvironment(): Promise<Record<string, string>> {
    if (scheme !== 'ssh') return {};
    const key = credential === undefined ? {} : { credential };
    ssh ??= createSshFiles({ display, ...key, ...(hostKeys ? { hostKeys } : {}) });
    return { GIT_SSH_COMMAND: (await ssh).command, GIT_SSH_VARIANT: 'ssh' };
  }

  async function close(): Promise<void> {
    const files = await ssh?.catch(() => undefined);
    if (files) await removeSshFiles(files);
    ssh = undefined;
  }
}

/** git cannot limit the size of a fetch, so we check the size of its pack while it grows. */
async function createSizeCheck(
  gitdir: string,
  maxBytes: number,
  where: string,
): Promise<() => Promise<GitError | undefined>> {
  const before = await sizeOf(packsOf(gitdir));
  return async () => {
    if ((await sizeOf(packsOf(gitdir))) - before <= maxBytes) return undefined;
    return new GitError('TooLarge', `the fetch is larger than ${maxBytes} bytes`, {
      where,
      hint: 'keep large files out of the fleet repository',
    });
  };
}

/**
 * Removes the temporary files of a git that was killed: its locks make every other git fail. No ref and no object has a name like
 * theirs.
 */
async function removeTemporaryFiles(gitdir: string): Promise<void> {
  for (const name of await readdir(gitdir, { recursive: true }).catch(() => [])) {
    if (/\.lock$|^objects\/pack\/tmp_/.test(name)) await rm(join(gitdir, name), { force: true });
  }
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(names.map((name) => sizeOfFile(join(folder, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** Returns the size of a file, and 0 if it is missing: git may rename a temporary pack between readdir and stat. */
async function sizeOfFile(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}

function packsOf(gitdir: string): string {
  return join(gitdir, 'objects', 'pack');
}
