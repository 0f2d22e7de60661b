/** git over http(s), with isomorphic-git. Comments name its pitfalls and what we do about them. */
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
import { optional } from '../../../kube/objects/optional.ts';
import { GitError, isGitError } from '../errors.ts';
import { checkObjectSize } from '../object-limits.ts';
import { GIT_LIMITS, type GitOptions } from '../options.ts';
import type { RepositoryUrl } from '../repository-url.ts';
import type { FetchDepth, GitBackend, ObjectReader, RawObject } from '../transport.ts';
import { createGitHttpClient, type HttpOptions } from './client.ts';
import { OID } from './objects.ts';
import { checkPack, countPacks } from './pack.ts';
import { checkPackSizes } from './pack-sizes.ts';
import { readShallow, writeShallow } from './shallow.ts';

// Some 50,000 refs. They are listed with each poll, in the process of sync.
const MAX_LISTING_BYTES = 4 * 1024 * 1024;
// The git protocol's value for the whole history.
const INFINITE_DEPTH = 0x7fffffff;

/** isomorphic-git writes a received pack, and only then indexes it: a pack that is too large fails before. */
const CHECKING_FS = {
  promises: {
    ...fs.promises,
    async writeFile(path: string, content: Uint8Array | string, ...options: unknown[]): Promise<void> {
      if (path.endsWith('.pack') && typeof content !== 'string') {
        checkPackSizes(Buffer.from(content.buffer, content.byteOffset, content.byteLength));
      }
      await fs.promises.writeFile(path, content, ...(options as []));
    },
  },
};

export function createHttpBackend({ url, display }: RepositoryUrl, options: GitOptions): GitBackend {
  const gitdir = options.folder;
  const limits = { ...GIT_LIMITS, ...options.limits };
  const http: HttpOptions = {
    display,
    limits,
    ...accessOf(options),
  };
  const maxBytes = Math.min(limits.maxBytes, MAX_LISTING_BYTES);
  const listing: HttpOptions = { ...http, limits: { ...limits, maxBytes } };
  return {
    display,
    listRefs,
    fetch,
    open: () => objectReader(gitdir, display),
    packs: () => countPacks(gitdir),
    wipe,
    close: async () => undefined,
  };

  async function listRefs(signal?: AbortSignal, prefix?: string): Promise<ReadonlyMap<string, string>> {
    try {
      const refs = await listServerRefs({
        http: createGitHttpClient(listing, signal),
        url,
        protocolVersion: 2,
        ...(prefix === undefined ? {} : { prefix }),
      });
      return new Map(refs.map(({ ref, oid }) => [ref, oid]));
    } catch (error) {
      throw toGitError(error, 'the list of refs', display);
    }
  }

  async function fetch(refOrOid: string, depth: FetchDepth, signal?: AbortSignal): Promise<string> {
    await init({ fs, gitdir, bare: true });
    // Without a configured remote, fetch throws NoRefspecError.
    await addRemote({ fs, gitdir, remote: 'origin', url, force: true });
    const before = await readShallow(gitdir);
    try {
      return await fetchOnce(refOrOid, depth, signal);
    } catch (error) {
      // isomorphic-git writes the new shallow boundary before it has the commits.
      await writeShallow(gitdir, before);
      throw toGitError(error, refOrOid, display);
    }
  }

  async function fetchOnce(refOrOid: string, depth: FetchDepth, signal?: AbortSignal): Promise<string> {
    const client = createGitHttpClient(http, signal);
    const common = {
      fs: CHECKING_FS,
      gitdir,
      http: client,
      remote: 'origin',
      singleBranch: true,
      tags: false,
    };
    const commits = await depthFor(refOrOid, depth);
    const result = await fetchPack({
      ...common,
      ref: refOrOid,
      ...(commits === undefined ? {} : { depth: commits }),
    });
    // An empty repository has no refs; isomorphic-git does not treat that as an error.
    if (!result.fetchHead) throw notFound(refOrOid, display);
    const { packfile } = result as { packfile?: string };
    if (packfile) await checkPack(join(gitdir, packfile));
    // isomorphic-git sends only the local ref of this name as `have`: without it, every fetch transfers everything.
    if (!OID.test(refOrOid)) {
      await writeRef({ fs, gitdir, ref: refOrOid, value: result.fetchHead, force: true });
    }
    return result.fetchHead;
  }

  async function depthFor(refOrOid: string, depth: FetchDepth): Promise<number | undefined> {
    if (depth === 'all') return INFINITE_DEPTH;
    if (depth !== 'new') return depth;
    const last = await resolveRef({ fs, gitdir, ref: refOrOid }).catch(() => '');
    const present = OID.test(last) && (await objectReader(gitdir, display).read(last)) !== undefined;
    return present ? undefined : 1;
  }

  async function wipe(): Promise<void> {
    for (const part of ['objects', 'refs', 'shallow', 'packed-refs']) {
      await rm(join(gitdir, part), { recursive: true, force: true });
    }
  }
}

function accessOf({ credential, tokens, ca }: GitOptions): Pick<HttpOptions, 'credential' | 'tokens' | 'ca'> {
  return { ...optional('credential', credential), ...optional('tokens', tokens), ...optional('ca', ca) };
}

function objectReader(gitdir: string, display: string): ObjectReader {
  // Caches packs and their indexes: per session, because it never shrinks.
  const cache = {};
  return { read, close: async () => undefined };

  async function read(oid: string): Promise<RawObject | undefined> {
    try {
      const { type, object } = await readObject({ fs, gitdir, oid, format: 'content', cache });
      const content = object as Uint8Array;
      checkObjectSize(`object ${oid}`, type as RawObject['type'], content.byteLength);
      return { type: type as RawObject['type'], content };
    } catch (error) {
      if (isGitError(error)) throw error;
      if (codeOf(error) === 'NotFoundError') return undefined;
      throw new GitError('Corrupt', `object ${oid} cannot be read`, {
        where: display,
        hint: 'no action required: the local copy is deleted and fetched again',
        cause: error,
      });
    }
  }
}

function notFound(refOrOid: string, where: string): GitError {
  if (OID.test(refOrOid)) {
    return new GitError('NotFoundObject', `the server does not serve ${refOrOid}`, { where });
  }
  return new GitError('NotFoundRef', `the repository has no ref ${refOrOid}`, {
    where,
    hint: 'check spec.source.ref, and that the branch was pushed',
  });
}

function toGitError(error: unknown, refOrOid: string, where: string): GitError {
  if (isGitError(error)) return error;
  if (codeOf(error) === 'NotFoundError') return notFound(refOrOid, where);
  return new GitError(
    'Corrupt',
    `the response of the server for ${refOrOid} is truncated or not valid git data`,
    {
      where,
      hint: 'sync fetches it again. If this persists, run git fsck on the repository',
      cause: error,
    },
  );
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string } | undefined)?.code;
}
