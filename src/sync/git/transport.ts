/**
 * The port to git. A repository of our own (a bare folder, a cache that may be thrown away) is filled from a remote one;
 * nothing is ever checked out. Two backends stand behind it, isomorphic-git and the git command; all that is not fetching is
 * shared, so they cannot disagree about what a commit holds.
 */

/** A commit as it is written down. */
export interface CommitInfo {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committedAt: Date;
  readonly subject: string;
  /** Everything below the subject. */
  readonly body: string;
  /** From "This reverts commit <sha>." as `git revert` writes it. */
  readonly revertOf?: string;
}

export interface TreeFile {
  readonly path: string;
  readonly oid: string;
  /** `file` and `executable` are blobs; links and submodules are never followed. */
  readonly type: 'file' | 'executable' | 'symlink' | 'submodule';
}

export interface ChangedPath {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly from?: string;
  readonly to?: string;
}

/** How a head stands to another commit. */
export type Ancestry =
  | 'same'
  | 'descends' // the head has the commit in its history
  | 'older' // the other way round
  | 'diverged';

export interface ExportLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export interface ExportedTree {
  readonly files: number;
  readonly bytes: number;
  /** What was left out: symbolic links and submodules. */
  readonly skipped: readonly TreeFile[];
}

/** What can be read without the remote side. */
export interface GitRepository {
  readonly display: string;
  has(commit: string): Promise<boolean>;
  commit(oid: string): Promise<CommitInfo>;
  /** All files of a commit, sorted by path. */
  files(commit: string): Promise<readonly TreeFile[]>;
  /** In the order asked for. */
  blobs(oids: readonly string[]): Promise<readonly Uint8Array[]>;
  changedPaths(from: string, to: string): Promise<readonly ChangedPath[]>;
  /** Into an empty folder that exists. Plain files only: nothing in it leads out of it. */
  exportTree(commit: string, folder: string, limits?: Partial<ExportLimits>): Promise<ExportedTree>;
}

export interface GitTransport extends GitRepository {
  /** Name to object, as the server has them now. */
  listRefs(signal?: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** Brings what the ref has now, shallow the first time, and says which commit that is. */
  fetch(ref: string, signal?: AbortSignal): Promise<string>;
  /** Brings the ref's history down to that depth, or all of it. */
  deepen(ref: string, depth: number | 'all', signal?: AbortSignal): Promise<void>;
  /** Decides by the true history, deepening as far as it takes: never a guess at a shallow boundary. */
  ancestry(question: AncestryQuestion, signal?: AbortSignal): Promise<Ancestry>;
  /** Makes a commit of the ref's history present, however deep it lies. */
  ensure(commit: string, ref: string, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface AncestryQuestion {
  readonly ancestor: string;
  readonly head: string;
  /** The ref that the head was fetched from. */
  readonly ref: string;
}

/** `news`: what is new since the last fetch, or the tip alone when there was none. */
export type FetchDepth = number | 'all' | 'news';

/** What a backend has to do: fetch, and read raw objects. Everything else is above it. */
export interface GitBackend {
  readonly display: string;
  listRefs(signal?: AbortSignal): Promise<ReadonlyMap<string, string>>;
  /** The object that the ref (or, where the server allows it, the oid) stands for. */
  fetch(what: string, depth: FetchDepth, signal?: AbortSignal): Promise<string>;
  /** A session of reads. To be closed. */
  open(): ObjectReader;
  /** How many packs lie here: each fetch brings one. */
  packs(): Promise<number>;
  /** Forgets everything that was fetched. */
  wipe(): Promise<void>;
  close(): Promise<void>;
}

export interface RawObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag';
  readonly content: Uint8Array;
}

export interface ObjectReader {
  /** Nothing when the object is not here. */
  read(oid: string): Promise<RawObject | undefined>;
  close(): Promise<void>;
}
