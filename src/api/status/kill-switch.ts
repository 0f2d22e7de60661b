/** Whether a kill switch stops anything: of a DefenderPolicy, of a FleetPolicy, or of an allowance. Pure. */
import type { KillSwitch } from '../generated/types.ts';

export function isEngaged({ engaged, until }: Pick<KillSwitch, 'engaged' | 'until'>, now: Date): boolean {
  return engaged && (until === undefined || Date.parse(until) > +now);
}
