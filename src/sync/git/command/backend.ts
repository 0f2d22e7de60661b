/** git over ssh and from local paths, by the git command. */
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
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

type Must = (
  args: readonly string[],
  signal?: AbortSignal,
  watch?: () => Promise<GitError | undefined>,
) => Promise<GitOutput>;

export function createCommandBackend(repository: RepositoryUrl, options: GitOptions): GitBackend {
  const { url, display } = repository;
  const gitdir = options.folder;
  const { must, close } = gitCommand(repository, options);

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
    close,
  };

  async function listRefs(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    const { stdout } = await must(['ls-remote', '--quiet', '--', url], signal);
    const pairs = stdout.split('\n').flatMap((line): [string, string][] => {
      const [oid = '', ref = ''] = line.split('\t');
      return OID.test(oid) && !ref.endsWith('^{}') ? [[ref, oid]] : [];
    });
    return new Map(pairs);
  }

  async function fetch(what: string, depth: FetchDepth, signal?: AbortSignal): Promise<string> {
    await prepare(signal);
    const local = OID.test(what) ? `refs/kubenode/commits/${what}` : `refs/kubenode/${what}`;
    const flags = ['--quiet', '--no-tags', '--no-write-fetch-head', '--force'];
    const args = [
      'fetch',
      ...flags,
      ...(await depthArguments(local, depth, signal)),
      '--',
      url,
      `+${what}:${local}`,
    ];
    const watch = await growthWatch(gitdir, { ...GIT_LIMITS, ...options.limits }.maxBytes, display);
    try {
      await must(args, signal, watch);
      const late = await watch();
      if (late) throw late;
    } catch (error) {
      await removeLeftovers(gitdir);
      throw error;
    }
    return (await must(['rev-parse', '--verify', '--quiet', local], signal)).stdout.trim();
  }

  async function depthArguments(local: string, depth: FetchDepth, signal?: AbortSignal): Promise<string[]> {
    if (depth === 'new') return (await isHere(local, signal)) ? [] : ['--depth=1'];
    if (depth !== 'all') return [`--depth=${depth}`];
    // To unshallow what is complete already is an error to git.
    return (await readShallow(gitdir)).size > 0 ? ['--unshallow'] : [];
  }

  async function isHere(local: string, signal?: AbortSignal): Promise<boolean> {
    const found = await must(['cat-file', '-e', `${local}^{commit}`], signal).catch(() => undefined);
    return found !== undefined;
  }

  async function prepare(signal?: AbortSignal): Promise<void> {
    await mkdir(gitdir, { recursive: true });
    // Written last: an init that was killed on the way is simply done again.
    const made = join(gitdir, 'kubenode-made');
    if (await stat(made).catch(() => undefined)) return;
    await must(['init', '--quiet', '--bare', '--template='], signal);
    await writeFile(made, '');
  }

  async function wipe(): Promise<void> {
    for (const part of ['objects', 'refs', 'shallow', 'packed-refs', 'HEAD', 'config', 'kubenode-made']) {
      await rm(join(gitdir, part), { recursive: true, force: true });
    }
  }
}

/** Runs git with what the scheme needs, and turns its failures into errors with codes. */
function gitCommand(
  { scheme, display }: RepositoryUrl,
  options: GitOptions,
): { must: Must; close: () => Promise<void> } {
  const { folder, credential, hostKeys } = options;
  let ssh: Promise<SshFiles> | undefined;
  return { must, close };

  async function must(
    args: readonly string[],
    signal?: AbortSignal,
    watch?: () => Promise<GitError | undefined>,
  ): Promise<GitOutput> {
    const ran = await runGit({
      // A listing must work whatever became of the copy.
      args: gitArguments(args[0] === 'ls-remote' ? undefined : folder, args),
      env: gitEnvironment(folder, await sshEnvironment()),
      timeoutMs: { ...GIT_LIMITS, ...options.limits }.timeoutMs,
      ...(signal ? { signal } : {}),
      ...(watch ? { watch } : {}),
    });
    if (ran.code === 0) return ran;
    throw commandError(ran.stderr, display);
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

/** git has no limit for the size of a fetch: its pack is watched while it grows. */
async function growthWatch(
  gitdir: string,
  maxBytes: number,
  where: string,
): Promise<() => Promise<GitError | undefined>> {
  const before = await sizeOf(packsOf(gitdir));
  return async () => {
    if ((await sizeOf(packsOf(gitdir))) - before <= maxBytes) return undefined;
    return new GitError('TooLarge', `the fetch brings more than ${maxBytes} bytes`, {
      where,
      hint: 'keep large files out of the fleet repository',
    });
  };
}

async function removeLeftovers(gitdir: string): Promise<void> {
  const packs = packsOf(gitdir);
  const names = await readdir(packs).catch(() => []);
  for (const name of names.filter((file) => file.startsWith('tmp_'))) {
    await rm(join(packs, name), { force: true });
  }
  await rm(join(gitdir, 'shallow.lock'), { force: true });
}

async function sizeOf(folder: string): Promise<number> {
  const names = await readdir(folder).catch(() => []);
  const sizes = await Promise.all(names.map((name) => sizeOfFile(join(folder, name))));
  return sizes.reduce((sum, size) => sum + size, 0);
}

/** A temporary pack may be renamed between the listing and the look. */
async function sizeOfFile(path: string): Promise<number> {
  const found = await stat(path).catch(() => undefined);
  return found?.size ?? 0;
}

function packsOf(gitdir: string): string {
  return join(gitdir, 'objects', 'pack');
}
