/** What both backends share: reading, comparing, exporting, and history that is right at shallow boundaries. */
import { GitError, isGitError } from './errors.ts';
import { EXPORT_LIMITS, exportFiles } from './export.ts';
import { isAncestor } from './history.ts';
import { OID, parseCommit, tagTarget } from './http/objects.ts';
import { mutex } from './mutex.ts';
import { fullRef } from './repository-url.ts';
import type {
  Ancestry,
  AncestryQuestion,
  ExportLimits,
  GitBackend,
  GitRepository,
  GitTransport,
  ObjectReader,
} from './transport.ts';
import { changesBetween, listFiles, readRequired } from './tree.ts';

// Most heads are one or a few commits ahead: start small, and go to all of it in four steps.
const DEPTHS = [16, 128, 1024, 'all'] as const;

// The copy only grows, and every read looks through all packs. Beyond this it is cheaper to begin again with the tip.
const MAX_PACKS = 64;

type Reading = Pick<GitBackend, 'display' | 'open'>;

/** Reads a repository that is here already; nothing is fetched. */
export function createGitRepository(backend: Reading, lock = mutex()): GitRepository {
  return {
    display: backend.display,
    has: async (oid) =>
      OID.test(oid) && (await reading(async (reader) => (await reader.read(oid)) !== undefined)),
    commit: (oid) => reading((reader) => commitAt(reader, oid)),
    files: (oid) => reading(async (reader) => listFiles(reader, (await commitAt(reader, oid)).tree)),
    blobs: (oids) =>
      reading(async (reader) => {
        const blobs: Uint8Array[] = [];
        for (const oid of oids) blobs.push((await readRequired(reader, oid)).content);
        return blobs;
      }),
    changedPaths: (from, to) =>
      reading(async (reader) => {
        const [before, after] = [await commitAt(reader, from), await commitAt(reader, to)];
        return changesBetween(reader, before.tree, after.tree);
      }),
    exportTree: (oid, folder, limits: Partial<ExportLimits> = {}) =>
      reading(async (reader) => {
        const files = await listFiles(reader, (await commitAt(reader, oid)).tree);
        return exportFiles(reader, files, folder, { ...EXPORT_LIMITS, ...limits });
      }),
  };

  function reading<T>(work: (reader: ObjectReader) => Promise<T>): Promise<T> {
    return lock.run(() => withReader(backend, work));
  }
}

export function createGitTransport(backend: GitBackend): GitTransport {
  const lock = mutex();
  const local = createGitRepository(backend, lock);

  return { ...local, listRefs: (signal) => backend.listRefs(signal), fetch, deepen, ancestry, ensure, close };

  /** A copy that turns out to be broken is thrown away at once: the next try starts from nothing. */
  function fetching<T>(work: () => Promise<T>): Promise<T> {
    return lock.run(async () => {
      try {
        return await work();
      } catch (error) {
        if (isGitError(error, 'Corrupt', 'NotFoundObject')) {
          await backend.wipe();
        }
        throw error;
      }
    });
  }

  function fetch(name: string, signal?: AbortSignal): Promise<string> {
    const ref = fullRef(name);
    return fetching(async () => {
      if ((await backend.packs()) >= MAX_PACKS) await backend.wipe();
      const oid = await backend.fetch(ref, 'news', signal);
      return withReader(backend, (reader) => peel(reader, oid));
    });
  }

  async function deepen(name: string, depth: number | 'all', signal?: AbortSignal): Promise<void> {
    await fetching(() => backend.fetch(fullRef(name), depth, signal));
  }

  async function ancestry(question: AncestryQuestion, signal?: AbortSignal): Promise<Ancestry> {
    const { ancestor, head, ref } = question;
    if (ancestor === head) return 'same';
    const descends = await decide(ancestor, head, ref, signal);
    if (descends) return 'descends';
    // Without more history of the former head this may stay unknown; for the verdict it makes no difference.
    return (await look(head, ancestor)) === true ? 'older' : 'diverged';
  }

  async function decide(ancestor: string, head: string, ref: string, signal?: AbortSignal): Promise<boolean> {
    for (const depth of DEPTHS) {
      const found = await look(ancestor, head);
      if (found !== 'unknown') return found;
      await deepen(ref, depth, signal);
    }
    const found = await look(ancestor, head);
    if (found !== 'unknown') return found;
    throw new GitError('NotFoundObject', `the history of ${head} is not complete in ${backend.display}`, {
      where: ref,
      hint: 'the ref moved while its history was read, or the server is itself shallow: sync asks again with the next poll',
    });
  }

  function look(ancestor: string, head: string): Promise<boolean | 'unknown'> {
    return lock.run(() => withReader(backend, (reader) => isAncestor(ancestor, head, reader)));
  }

  async function ensure(commit: string, name: string, signal?: AbortSignal): Promise<void> {
    for (const depth of DEPTHS) {
      if (await local.has(commit)) return;
      await deepen(name, depth, signal);
    }
    if (await local.has(commit)) return;
    // Not in the ref's history any more. Some servers hand out any commit that they still have.
    const refused = await lock.run(() => backend.fetch(commit, 1, signal)).catch((error: unknown) => error);
    if (await local.has(commit)) return;
    throw new GitError('NotFoundObject', `commit ${commit} is not in ${backend.display}`, {
      where: name,
      hint: 'it was removed from the branch (force-push?): push it again, or accept the new head',
      cause: refused,
    });
  }

  async function close(): Promise<void> {
    await lock.run(() => backend.close());
  }
}

async function withReader<T>(backend: Reading, work: (reader: ObjectReader) => Promise<T>): Promise<T> {
  const reader = backend.open();
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

async function commitAt(reader: ObjectReader, oid: string): ReturnType<GitRepository['commit']> {
  const commit = await peel(reader, oid);
  return parseCommit(commit, await readRequired(reader, commit));
}

/** A tag may point to a tag; more than a few of them is a joke. */
async function peel(reader: ObjectReader, oid: string): Promise<string> {
  let at = oid;
  for (let hops = 0; hops < 8; hops += 1) {
    const object = await readRequired(reader, at);
    if (object.type === 'commit') return at;
    if (object.type !== 'tag') break;
    at = tagTarget(at, object);
  }
  throw new GitError('NotFoundRef', `${oid} is no commit, and no tag of one`, {
    hint: 'name a branch or a tag',
  });
}
