/** Implements what both backends share: reading, comparing, exporting, and ancestry that is correct at shallow boundaries. */
import PQueue from 'p-queue';
import { isAncestor } from './commit-walk.ts';
import { GitError, isGitError } from './errors.ts';
import { EXPORT_LIMITS, exportFiles } from './export.ts';
import { OID, parseCommit, tagTarget } from './http/objects.ts';
import { fullRef } from './repository-url.ts';
import { makeRevert } from './revert/revert.ts';
import { verifySignatures } from './signatures/verify.ts';
import type {
  Ancestry,
  AncestryQuestion,
  ExportLimits,
  GitBackend,
  GitRepository,
  GitTransport,
  ObjectReader,
  RevertQuestion,
  RevertResult,
  SignatureQuestion,
  SignatureReport,
} from './transport.ts';
import { changesBetween, listFiles, readRequired } from './tree.ts';

// Most heads are only a few commits ahead: start small, and reach the whole history in four steps.
const DEPTHS = [16, 128, 1024, 'all'] as const;

// The local repository only grows, and every read searches all packs. Beyond this, starting over with the tip is cheaper.
const MAX_PACKS = 64;

type ReadableBackend = Pick<GitBackend, 'display' | 'open'>;

/** Creates a queue that runs one operation at a time: neither backend allows two writers in one folder. */
function createQueue(): PQueue {
  return new PQueue({ concurrency: 1 });
}

type Run = <T>(work: () => Promise<T>) => Promise<T>;

/** Reads a local repository; nothing is fetched. */
export function createGitRepository(
  backend: ReadableBackend,
  run: Run = inTurn(createQueue()),
): GitRepository {
  return {
    display: backend.display,
    has: async (oid) =>
      OID.test(oid) &&
      (await withReader((reader) => reader.read(oid).then((object) => object !== undefined))),
    commit: (oid) => withReader((reader) => readCommit(reader, oid)),
    files: (oid) => withReader(async (reader) => listFiles(reader, (await readCommit(reader, oid)).tree)),
    blobs: (oids) =>
      withReader(async (reader) => {
        const blobs: Uint8Array[] = [];
        for (const oid of oids) blobs.push((await readRequired(reader, oid)).content);
        return blobs;
      }),
    changedPaths: (from, to) =>
      withReader(async (reader) => {
        const [before, after] = [await readCommit(reader, from), await readCommit(reader, to)];
        return changesBetween(reader, before.tree, after.tree);
      }),
    exportTree: (oid, folder, limits: Partial<ExportLimits> = {}) =>
      withReader(async (reader) => {
        const files = await listFiles(reader, (await readCommit(reader, oid)).tree);
        return exportFiles(reader, files, folder, { ...EXPORT_LIMITS, ...limits });
      }),
  };

  function withReader<T>(work: (reader: ObjectReader) => Promise<T>): Promise<T> {
    return run(() => useReader(backend, work));
  }
}

function inTurn(queue: PQueue): Run {
  return (work) => queue.add(work);
}

export function createGitTransport(backend: GitBackend): GitTransport {
  const queue = createQueue();
  const { read, refetchIfDamaged } = createRepair(backend, queue);
  const local = createGitRepository(backend, read);
  const deepenUntilKnown = createDeepening({ display: backend.display, deepen });

  return {
    ...local,
    listRefs: (signal, ref) => backend.listRefs(signal, ref),
    fetch,
    deepen,
    ancestry,
    signatures,
    revert,
    ensure,
    close,
  };

  function fetch(name: string, signal?: AbortSignal): Promise<string> {
    const ref = fullRef(name);
    return refetchIfDamaged(async () => {
      if ((await backend.packs()) >= MAX_PACKS) await backend.wipe();
      const oid = await backend.fetch(ref, 'new', signal);
      return useReader(backend, (reader) => peelToCommit(reader, oid));
    });
  }

  async function deepen(name: string, depth: number | 'all', signal?: AbortSignal): Promise<void> {
    await refetchIfDamaged(() => backend.fetch(fullRef(name), depth, signal));
  }

  async function ancestry(question: AncestryQuestion, signal?: AbortSignal): Promise<Ancestry> {
    const { ancestor, head, ref } = question;
    if (ancestor === head) return 'same';
    if (await descends(ancestor, head, ref, signal)) return 'descends';
    // This may be unknown without more history of the former head; both answers are held in the same way.
    return (await isLocalAncestor(head, ancestor)) === true ? 'older' : 'diverged';
  }

  function descends(ancestor: string, head: string, ref: string, signal?: AbortSignal): Promise<boolean> {
    return deepenUntilKnown({ head, ref }, () => isLocalAncestor(ancestor, head), signal);
  }

  function signatures(question: SignatureQuestion, signal?: AbortSignal): Promise<SignatureReport> {
    const verify = (reader: ObjectReader, canFetchMore: boolean): Promise<SignatureReport | 'unknown'> =>
      verifySignatures(reader, question, { canFetchMore, signal });
    return deepenUntilKnown(question, (canFetchMore) => readWith(verify, canFetchMore), signal);
  }

  function revert(question: RevertQuestion, signal?: AbortSignal): Promise<RevertResult> {
    const { onto: head, ref } = question;
    const make = (reader: ObjectReader, canFetchMore: boolean): Promise<RevertResult | 'unknown'> =>
      makeRevert(reader, question, { canFetchMore, signal });
    return deepenUntilKnown({ head, ref }, (canFetchMore) => readWith(make, canFetchMore), signal);
  }

  function readWith<T>(
    work: (reader: ObjectReader, canFetchMore: boolean) => Promise<T>,
    canFetchMore: boolean,
  ): Promise<T> {
    return read(() => useReader(backend, (reader) => work(reader, canFetchMore)));
  }

  function isLocalAncestor(ancestor: string, head: string): Promise<boolean | 'unknown'> {
    return read(() => useReader(backend, (reader) => isAncestor(ancestor, head, reader)));
  }

  async function ensure(commit: string, name: string, signal?: AbortSignal): Promise<void> {
    for (const depth of DEPTHS) {
      if (await local.has(commit)) return;
      await deepen(name, depth, signal);
    }
    if (await local.has(commit)) return;
    // No longer in the history of the ref. Some servers serve any commit that they still have.
    const cause = await queue.add(() => backend.fetch(commit, 1, signal)).catch((error: unknown) => error);
    if (await local.has(commit)) return;
    throw new GitError('NotFoundObject', `commit ${commit} is not in ${backend.display}`, {
      where: name,
      hint: 'it was removed from the branch (force-push?): push it again, or accept the new head',
      cause,
    });
  }

  async function close(): Promise<void> {
    await queue.add(() => backend.close());
  }
}

interface DeepenPorts {
  readonly display: string;
  readonly deepen: GitTransport['deepen'];
}

/** Asks again with more of the history, until the answer is known. */
function createDeepening({
  display,
  deepen,
}: DeepenPorts): <T>(
  of: { readonly head: string; readonly ref: string },
  ask: (canFetchMore: boolean) => Promise<T | 'unknown'>,
  signal?: AbortSignal,
) => Promise<T> {
  return async ({ head, ref }, ask, signal) => {
    for (const depth of DEPTHS) {
      const found = await ask(true);
      if (found !== 'unknown') return found;
      await deepen(ref, depth, signal);
    }
    const found = await ask(false);
    if (found !== 'unknown') return found;
    throw new GitError('NotFoundObject', `the history of ${head} in ${display} is incomplete`, {
      where: ref,
      hint: 'the ref moved during the fetch, or the server itself is shallow; sync retries with the next poll',
    });
  };
}

/** Creates the repair of a local repository that a killed process, or a disk, may have damaged: then it is deleted. */
function createRepair(backend: GitBackend, queue: PQueue): { read: Run; refetchIfDamaged: Run } {
  return { read, refetchIfDamaged };

  /** Reads the local repository. When it is damaged, it is deleted, and the next fetch starts from nothing. */
  function read<T>(work: () => Promise<T>): Promise<T> {
    return queue.add(async () => {
      try {
        return await work();
      } catch (error) {
        if (isGitError(error, 'Corrupt')) await backend.wipe();
        throw error;
      }
    });
  }

  /**
   * Fetches once more, from nothing, when the repository is damaged. What is damaged although there was nothing before comes from
   * the server.
   */
  function refetchIfDamaged<T>(work: () => Promise<T>): Promise<T> {
    return queue.add(async () => {
      const wasEmpty = (await backend.packs()) === 0;
      try {
        return await work();
      } catch (error) {
        if (!isGitError(error, 'Corrupt', 'NotFoundObject')) throw error;
        await backend.wipe();
        if (wasEmpty) throw error;
        return work();
      }
    });
  }
}

async function useReader<T>(
  backend: ReadableBackend,
  work: (reader: ObjectReader) => Promise<T>,
): Promise<T> {
  const reader = backend.open();
  try {
    return await work(reader);
  } finally {
    await reader.close();
  }
}

async function readCommit(reader: ObjectReader, oid: string): ReturnType<GitRepository['commit']> {
  const commit = await peelToCommit(reader, oid);
  return parseCommit(commit, await readRequired(reader, commit));
}

// A tag may point to a tag; no real repository chains more than a few.
const MAX_TAGS = 8;

async function peelToCommit(reader: ObjectReader, oid: string): Promise<string> {
  let current = oid;
  for (let tags = 0; tags < MAX_TAGS; tags += 1) {
    const object = await readRequired(reader, current);
    if (object.type === 'commit') return current;
    if (object.type !== 'tag') break;
    current = tagTarget(current, object);
  }
  throw new GitError('NotFoundRef', `${oid} is neither a commit nor a tag of one`, {
    hint: 'name a branch or a tag',
  });
}
