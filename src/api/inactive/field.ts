/** Describes a field of our kinds that nothing in this version acts on. */
export interface InactiveField {
  /** The path of the field. `spec.rollout.gate.checks[].http` is the field of every entry of a list. */
  readonly path: string;
  /** The explanation what kubenode does not do. It completes "not supported in this version, because …". */
  readonly because: string;
  /** The values that are acted on, or that mean what happens anyway. An absent field and an empty list are always fine. */
  readonly accepts?: readonly unknown[];
  /** The field beside it and a value: this field is inactive only where that field has this value. */
  readonly when?: readonly [field: string, value: unknown];
  /** The field beside it: this field is inactive only where that field is set. */
  readonly whenSet?: string;
  /** The path of a field of the object and a value: this field is active where that field has this value. */
  readonly whenNotAt?: readonly [path: string, value: unknown];
  /** The field beside it and a value: this field is active where that field has this value. */
  readonly whenNot?: readonly [field: string, value: unknown];
  /** The paths of fields each of which makes this one active wherever it is set. */
  readonly unless?: readonly string[];
}
