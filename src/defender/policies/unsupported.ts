/**
 * Why the Defender does not decide by a policy: what no decision could be made by, and fields that this version does not act on.
 * A limit that does nothing would be taken for protection, so every ask is then denied. Pure.
 */
import type { DefenderPolicy } from '../../api/generated/types.ts';
import { inactiveFields, inactiveFieldText } from '../../api/inactive/find.ts';
import { policyProblems } from './problems.ts';

export function acceptanceProblems(policy: DefenderPolicy): readonly string[] {
  return [...policyProblems(policy), ...inactiveFields(policy).map(inactiveFieldText)];
}
