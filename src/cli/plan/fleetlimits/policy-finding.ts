/** Describes one change of a FleetPolicy, and the effect of a number that changes. Pure. */
import type { FleetPolicyChange } from '../../../sync/preview/fleet-limits.ts';

export type PolicyFinding = Omit<FleetPolicyChange, 'policy'>;

/** `raised`: the effect of a higher number. */
export function numberChange(
  label: string,
  [from, to]: readonly [number, number],
  raised: 'Loosened' | 'Tightened' | 'Changed',
  format: (value: number) => string = String,
): readonly PolicyFinding[] {
  if (from === to) return [];
  const lowered = { Loosened: 'Tightened', Tightened: 'Loosened', Changed: 'Changed' } as const;
  return [{ effect: to > from ? raised : lowered[raised], text: `${label} ${format(from)} → ${format(to)}` }];
}
