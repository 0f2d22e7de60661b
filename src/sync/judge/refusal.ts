/** Describes an object that keeps a commit from being accepted. */
export interface Refusal {
  readonly target: string;
  readonly unit: string;
  /** `Namespace web`, as objectKey formats it. */
  readonly object: string;
  /** File, line and construct path. */
  readonly source: string;
  readonly message: string;
}
