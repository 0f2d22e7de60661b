/** Tells whether a policy asks for capacity: only then all Pods are watched, and acts are judged by it. Pure. */
import type { DefenderPolicySpec } from '../../api/generated/types.ts';

export function asksForCapacity({
  simulateScheduling,
  minFreePercent,
}: DefenderPolicySpec['capacity']): boolean {
  return simulateScheduling || Object.keys(minFreePercent).length > 0;
}
