/** A place that has artifacts by their SHA-256. */
export interface MirrorTarget {
  /** Tells whether the content is there and is what its name states. */
  has(sha256: string): Promise<boolean>;
  /** The folder of files on their way, named by their SHA-256. What is there of an earlier attempt is continued. */
  readonly partialFolder: string;
  /** Moves a verified file to its place. */
  put(sha256: string, file: string): Promise<void>;
  /** The URL for the hosts. Undefined: it depends on the server of the folder. */
  readonly url: string | undefined;
}
