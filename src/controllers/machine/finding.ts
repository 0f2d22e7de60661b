/** One condition of a Machine before it is written. Pure. */
import type { ConditionStatus, ConditionUpdate } from '../../kube/objects/conditions.ts';

export type Finding = ConditionUpdate & {
  /** The object that has to change first. */
  readonly blocker?: { readonly kind: string; readonly name: string; readonly namespace?: string };
  /** Whether it stays so until a person changes something. */
  readonly isFinal?: boolean;
};

export function finding(type: string, status: ConditionStatus, reason: string, message: string): Finding {
  return { type, status, reason, message };
}
