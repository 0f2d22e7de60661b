/** A condition of a set before it is dated. Pure. */
import type { ConditionType } from '../../../api/names.ts';
import {
  type ConditionStatus,
  type ConditionUpdate,
  isConditionReason,
} from '../../../kube/objects/conditions.ts';

/** Reasons of agents and of other controllers may have another form than our reasons. */
export function setFinding(
  type: ConditionType,
  status: ConditionStatus,
  reason: string,
  message: string,
): ConditionUpdate {
  return { type, status, reason: isConditionReason(reason) ? reason : 'Other', message };
}
