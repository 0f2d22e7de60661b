/**
 * The port to git. A local bare repository, which is a disposable cache, is filled from a remote one; nothing is ever checked
 * out. Two backends implement it, isomorphic-git and the git command; everything except fetching is shared, so they
 * cannot disagree about the content of a commit.
 */

/** The fields of a commit object. */
export interface CommitInfo {
  readonly oid: string;
  readonly tree: string;
  readonly parents: readonly string[];
  readonly author: string;
  readonly committedAt: Date;
  readonly subject: string;
  /** The message below the subject. */
  readonly body: string;
  /** The commit that it reverts: from "This reverts commit <sha>.", as `git revert` writes it. */
  readonly revertOf?: string;
}

export interface TreeFile {
  readonly path: string;
  readonly oid: string;
  /** `file` and `executable` are blobs; symlinks and submodules are never followed. */
  readonly type: 'file' | 'executable' | 'symlink' | 'submodule';
}

export interface ChangedPath {
  readonly path: string;
  readonly change: 'added' | 'removed' | 'changed';
  readonly from?: string;
  readonly to?: string;
}

/** The relation of a head to another commit. */
export type Ancestry =
  | 'same'
  | 'descends' // the head has the commit in its history
  | 'older' // the commit has the head in its history
  | 'diverged';

export interface ExportLimits {
  readonly maxFiles: number;
  readonly maxBytes: number;
  readonly timeoutMs: number;
}

export interface ExportedTree {
  readonly files: number;
  readonly bytes: number;
  /** Symlinks and submodules, which are not exported. */
  readonly skipped: readonly TreeFile[];
}

/** Everything that can be read without the remote repository. */
export interface GitRepository {
  readonly display: string;
  has(commit: string): Promise<boolean>;
  commit(oid: string): Promise<CommitInfo>;
  /** Lists all files of a commit, sorted by path. */
  files(commit: string): Promise<readonly TreeFile[]>;
  /** Reads the blobs, in the order of `oids`. */
  blobs(oids: readonly string[]): Promise<readonly Uint8Array[]>;
  changedPaths(from: string, to: string): Promise<readonly ChangedPath[]>;
  /** Writes regular files only, into an existing empty folder: nothing in it points outside. */
  exportTree(commit: string, folder: string, limits?: Partial<ExportLimits>): Promise<ExportedTree>;
}

/** Signers and the paths that they may change. */
export interface SignerSet {
  readonly name: string;
  /** The file in the repository that lists their keys. */
  readonly keysPath: string;
  /** Files and folders. Empty: all paths. */
  readonly paths: readonly string[];
}

export interface SignatureQuestion {
  readonly mode: 'Head' | 'Range';
  readonly head: string;
  /** The accepted commit before the head: its signers decide. Absent before the first: then the head is judged by its own. */
  readonly before?: string;
  /** The ref that the head was fetched from. */
  readonly ref: string;
  readonly signers: readonly SignerSet[];
  readonly now: Date;
}

export interface SignatureProblem {
  readonly commit: string;
  readonly subject: string;
  /** Completes "commit X: …". */
  readonly because: string;
}

export interface SignatureReport {
  /** How many commits were verified. */
  readonly commits: number;
  /** The first problems, the newest commit first. */
  readonly problems: readonly SignatureProblem[];
  /** How many commits have a problem. */
  readonly refused: number;
  /** The name of the key that signed the head, as the file of signers lists it. Absent where the head was not verified. */
  readonly signer?: string;
  /**
   * Everybody who wrote or signed one of the verified commits: names, addresses and keys, `*` if they are too many. Who only merged is not
   * in it. Absent where a commit is refused.
   */
  readonly authors?: readonly string[];
}

/** Asks for a commit that takes back the commits after `from` up to `to`. */
export interface RevertQuestion {
  readonly from: string;
  readonly to: string;
  /** The head that the new commit is for. */
  readonly onto: string;
  /** The ref that the head was fetched from. */
  readonly ref: string;
  readonly message: string;
  readonly at: Date;
  /** A private key in the form of OpenSSH. */
  readonly signingKey?: string;
  /** How commits are verified. Absent: no signature is required. */
  readonly signatures?: Omit<SignatureQuestion, 'head' | 'before'>;
}

export type RevertResult =
  | {
      readonly type: 'Revert';
      readonly commit: string;
      /** The objects that the server does not have: the commit and its trees. */
      readonly objects: readonly NewObject[];
      /** Why sync would refuse the commit as a head. */
      readonly unaccepted?: string;
    }
  /** Both the range and later commits changed these files. */
  | { readonly type: 'Conflict'; readonly paths: readonly string[] }
  /** The head has the content already. */
  | { readonly type: 'Nothing' }
  /** One of the commits is a revert that sync made. */
  | { readonly type: 'OwnRevert'; readonly commit: string }
  | { readonly type: 'Unrelated'; readonly ancestor: string; readonly head: string };

/** An object that is not in any repository yet. */
export interface NewObject {
  readonly type: 'commit' | 'tree';
  readonly content: Uint8Array;
}

export interface GitTransport extends GitRepository {
  /** Ref name to object id, as the server has them now. With `ref`, the server may leave out all others. */
  listRefs(signal?: AbortSignal, ref?: string): Promise<ReadonlyMap<string, string>>;
  /** Fetches the ref, shallow the first time, and resolves to its commit. */
  fetch(ref: string, signal?: AbortSignal): Promise<string>;
  /** Fetches the history of the ref down to that depth, or all of it. */
  deepen(ref: string, depth: number | 'all', signal?: AbortSignal): Promise<void>;
  /** Decides by the true history and deepens as far as necessary: never a guess at a shallow boundary. */
  ancestry(question: AncestryQuestion, signal?: AbortSignal): Promise<Ancestry>;
  /** Verifies the signatures of the commits that a head adds, and deepens as far as necessary. */
  signatures(question: SignatureQuestion, signal?: AbortSignal): Promise<SignatureReport>;
  /** Makes a revert in memory, and deepens as far as necessary. Nothing is pushed. */
  revert(question: RevertQuestion, signal?: AbortSignal): Promise<RevertResult>;
  /** Fetches a commit of the ref's history, however old it is. */
  ensure(commit: string, ref: string, signal?: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

export interface AncestryQuestion {
  readonly ancestor: string;
  readonly head: string;
  /** The ref that the head was fetched from. */
  readonly ref: string;
}

/** `new`: commits since the last fetch, or only the tip when there was none. */
export type FetchDepth = number | 'all' | 'new';

/** A backend fetches and reads raw objects. Everything else is shared. */
export interface GitBackend {
  readonly display: string;
  listRefs(signal?: AbortSignal, ref?: string): Promise<ReadonlyMap<string, string>>;
  /** Resolves to the object id of a ref, or of an object id where the server allows fetching one. */
  fetch(refOrOid: string, depth: FetchDepth, signal?: AbortSignal): Promise<string>;
  /** Starts a session of reads, which has to be closed. */
  open(): ObjectReader;
  /** Counts the local packs: each fetch adds one. */
  packs(): Promise<number>;
  /** Deletes everything that was fetched. */
  wipe(): Promise<void>;
  close(): Promise<void>;
}

export interface RawObject {
  readonly type: 'commit' | 'tree' | 'blob' | 'tag';
  readonly content: Uint8Array;
}

export interface ObjectReader {
  /** Reads an object. Undefined when it was not fetched. */
  read(oid: string): Promise<RawObject | undefined>;
  close(): Promise<void>;
}
