/** What the opening of a repository takes. Secrets come as values: reading files and Secrets is the caller's part. */
export interface GitOptions {
  readonly repository: string;
  /** A bare repository of our own in here; made when absent. One process, one folder. */
  readonly folder: string;
  /** For https: a token, or `user:password`. For ssh: a private key in PEM or OpenSSH form. */
  readonly credential?: string;
  /** More certificate authorities for https, PEM. */
  readonly ca?: string;
  /** For ssh: lines as in known_hosts. Without one for the host there is no connection. */
  readonly hostKeys?: readonly string[];
  readonly limits?: Partial<GitLimits>;
}

export interface GitLimits {
  /** For one call, from the first byte to the last. */
  readonly timeoutMs: number;
  /** Between two pieces of an answer. */
  readonly idleMs: number;
  /** Of one fetch. */
  readonly maxBytes: number;
}

// A shallow fetch of a fleet repository is a few megabytes; isomorphic-git holds all of a pack in memory.
export const GIT_LIMITS: GitLimits = { timeoutMs: 120_000, idleMs: 30_000, maxBytes: 256 * 1024 * 1024 };
