/** A field of our kinds that nothing in this version acts on. */
export interface InactiveField {
  /** `spec.stages[].checks[].cel`: of every entry of a list. */
  readonly path: string;
  /** What kubenode does not do, which completes "not supported in this version, because …". */
  readonly because: string;
  /** Values that are acted on, or that mean what happens anyway. An absent field and an empty list are always fine. */
  readonly accepts?: readonly unknown[];
  /** Only where the field beside it has this value. */
  readonly when?: readonly [field: string, value: unknown];
}
