/** Holds the input of the planner of repair jobs. Plain data. */
import type { Machine, RemedyOperationJob } from '../../../api/generated/types.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import type { RuleOutcome, Truth } from '../../../rules/compiled-rule.ts';

export interface JobInput {
  readonly job: RemedyOperationJob;
  /** The Machine with the name in the job; it may be another one by now. */
  readonly machine: Machine | undefined;
  readonly node: KubeObject | undefined;
  /** The present outcome of the rule that led to the job. Indeterminate where the rule has changed since. */
  readonly rule: RuleOutcome;
  /** The present outcome of the rule of that name, also when it has changed since; undefined: it was deleted. */
  readonly presentFault: { readonly outcome: RuleOutcome; readonly clearSeconds: number } | undefined;
  /** Whether the conditions of `spec.verify` hold now. */
  readonly verified: Truth;
  readonly now: Date;
}
