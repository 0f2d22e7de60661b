/** One version of a component with artifacts, pinned by checksum for each architecture. */
export interface Release {
  readonly version: string;
  /** sha256 of the artifact. */
  readonly amd64: string;
  readonly arm64: string;
}
