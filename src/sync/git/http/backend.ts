/** git over http(s), by isomorphic-git. Its traps, and what is done about them, are named where they are met. */
import fs from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import {
  addRemote,
  fetch as fetchPack,
  init,
  listServerRefs,
  readObject,
  resolveRef,
  writeRef,
} from 'isomorphic-git';
import { GitError, isGitError } from '../errors.ts';
import { GIT_LIMITS, type GitOptions } from '../options.ts';
import type { RepositoryUrl } from '../repository-url.ts';
import type { FetchDepth, GitBackend, ObjectReader, RawObject } from '../transport.ts';
import { createGitHttpClient, type HttpOptions } from './client.ts';
import { OID } from './objects.ts';
import { checkPack, countPacks } from './pack.ts';
import { readShallow, writeShallow } from './shallow.ts';

// "All of it" in git's own protocol.
const INFINITE_DEPTH = 0x7fffffff;

export function createHttpBackend({ url, display }: RepositoryUrl, options: GitOptions): GitBackend {
  const gitdir = options.folder;
  const http: HttpOptions = {
    display,
    limits: { ...GIT_LIMITS, ...options.limits },
    ...(options.credential === undefined ? {} : { credential: options.credential }),
    ...(options.ca === undefined ? {} : { ca: options.ca }),
  };
  return {
    display,
    listRefs,
    fetch,
    open: () => objectReader(gitdir, display),
    packs: () => countPacks(gitdir),
    wipe,
    close: async () => undefined,
  };

  async function listRefs(signal?: AbortSignal): Promise<ReadonlyMap<string, string>> {
    try {
      const refs = await listServerRefs({ http: createGitHttpClient(http, signal), url, protocolVersion: 2 });
      return new Map(refs.map(({ ref, oid }) => [ref, oid]));
    } catch (error) {
      throw explain(error, 'the list of refs', display);
    }
  }

  async function fetch(what: string, depth: FetchDepth, signal?: AbortSignal): Promise<string> {
    await init({ fs, gitdir, bare: true });
    // Without a remote that it knows, fetch throws NoRefspecError.
    await addRemote({ fs, gitdir, remote: 'origin', url, force: true });
    const before = await readShallow(gitdir);
    try {
      return await fetchOnce(what, depth, signal);
    } catch (error) {
      // isomorphic-git writes down the new boundary before it has the commits.
      await writeShallow(gitdir, before);
      throw explain(error, what, display);
    }
  }

  async function fetchOnce(what: string, depth: FetchDepth, signal?: AbortSignal): Promise<string> {
    const client = createGitHttpClient(http, signal);
    const common = { fs, gitdir, http: client, remote: 'origin', singleBranch: true, tags: false };
    const deep = await depthOf(what, depth);
    const result = await fetchPack({ ...common, ref: what, ...(deep === undefined ? {} : { depth: deep }) });
    // An empty repository has no refs, and is no error to isomorphic-git.
    if (!result.fetchHead) throw notFound(what, display);
    const { packfile } = result as { packfile?: string };
    if (packfile) await checkPack(join(gitdir, packfile));
    // Its `haves` are the ref of this very name: without it each fetch brings everything again.
    if (!OID.test(what)) await writeRef({ fs, gitdir, ref: what, value: result.fetchHead, force: true });
    return result.fetchHead;
  }

  async function depthOf(what: string, depth: FetchDepth): Promise<number | undefined> {
    if (depth === 'all') return INFINITE_DEPTH;
    if (depth !== 'new') return depth;
    const last = await resolveRef({ fs, gitdir, ref: what }).catch(() => '');
    const present = OID.test(last) && (await objectReader(gitdir, display).read(last)) !== undefined;
    return present ? undefined : 1;
  }

  async function wipe(): Promise<void> {
    for (const part of ['objects', 'refs', 'shallow', 'packed-refs']) {
      await rm(join(gitdir, part), { recursive: true, force: true });
    }
  }
}

function objectReader(gitdir: string, display: string): ObjectReader {
  // Holds packs and their indexes: for one session, or it would grow for ever.
  const cache = {};
  return { read, close: async () => undefined };

  async function read(oid: string): Promise<RawObject | undefined> {
    try {
      const { type, object } = await readObject({ fs, gitdir, oid, format: 'content', cache });
      return { type: type as RawObject['type'], content: object as Uint8Array };
    } catch (error) {
      if (codeOf(error) === 'NotFoundError') return undefined;
      throw new GitError('Corrupt', `object ${oid} cannot be read`, {
        where: display,
        hint: 'the copy is thrown away and fetched again',
        cause: error,
      });
    }
  }
}

function notFound(what: string, where: string): GitError {
  if (OID.test(what)) {
    return new GitError('NotFoundObject', `the server does not hand out ${what}`, { where });
  }
  return new GitError('NotFoundRef', `there is no ${what} in this repository`, {
    where,
    hint: 'check spec.source.ref, and that the branch was pushed',
  });
}

function explain(error: unknown, what: string, where: string): GitError {
  if (isGitError(error)) return error;
  if (codeOf(error) === 'NotFoundError') return notFound(what, where);
  return new GitError('Corrupt', `what the server sent for ${what} is cut off, or not git's`, {
    where,
    hint: 'sync fetches it again; if it stays, check the repository with git fsck',
    cause: error,
  });
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code;
}
