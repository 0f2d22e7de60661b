/** One version of a component that is fetched: what pins its content on each architecture. */
export interface Release {
  readonly version: string;
  /** sha256 of the artifact. */
  readonly amd64: string;
  readonly arm64: string;
}
