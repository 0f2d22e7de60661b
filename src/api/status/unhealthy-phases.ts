/**
 * The phases of a machine that is unhealthy. One that is created, updated, held or deleted is not: that has an end, or is what a person asked for.
 * No npm package here: the Defender counts by them.
 */
export const UNHEALTHY_PHASES = ['NotReady', 'Unreachable', 'Stalled'] as const;

export type UnhealthyPhase = (typeof UNHEALTHY_PHASES)[number];

export function isUnhealthyPhase(phase: string): phase is UnhealthyPhase {
  return (UNHEALTHY_PHASES as readonly string[]).includes(phase);
}
