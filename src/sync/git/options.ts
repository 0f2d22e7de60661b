/** Options to open a repository. Credentials are values: the caller reads files and Secrets. */
export interface GitOptions {
  readonly repository: string;
  /** Folder of the local bare repository; created when missing. Only one process may use it. */
  readonly folder: string;
  /** The credential: for https a token or `user:password`, for ssh a private key in PEM or OpenSSH form. */
  readonly credential?: string;
  /** Issues tokens for https in place of `credential`: each of them ends after a while. */
  readonly tokens?: GitTokens;
  /** Additional certificate authorities for https, PEM. */
  readonly ca?: string;
  /** The keys of ssh hosts, as lines in the format of known_hosts. A host without one is refused. */
  readonly hostKeys?: readonly string[];
  readonly limits?: Partial<GitLimits>;
}

export interface GitTokens {
  /** Returns a credential that the server accepts for minutes. Rejects with GitError. */
  get(signal?: AbortSignal): Promise<string>;
  /** Notes that the server refused a credential. */
  refused(credential: string): void;
}

export interface GitLimits {
  /** The time limit of one call in total. */
  readonly timeoutMs: number;
  /** The time limit between two chunks of a response. */
  readonly idleMs: number;
  /** The largest number of bytes of one fetch. */
  readonly maxBytes: number;
}

// A shallow fetch of a fleet repository is a few megabytes; isomorphic-git holds a whole pack in memory.
export const GIT_LIMITS: GitLimits = { timeoutMs: 120_000, idleMs: 30_000, maxBytes: 256 * 1024 * 1024 };
