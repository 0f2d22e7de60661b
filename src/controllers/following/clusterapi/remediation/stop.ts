/** Whether people stopped repairs: in this cluster, or from the hub for all. Then nothing is handed back either: it would be replaced. Pure. */
import type { DefenderLedger, DefenderPolicy } from '../../../../api/generated/types.ts';
import { stopText } from '../../../../api/status/pauses.ts';

const SCOPES = ['All', 'Remedy'] as const;

/** Returns who stopped repairs, and why. The switch of a policy holds in every mode. */
export function repairStop(
  policies: readonly Pick<DefenderPolicy, 'spec'>[],
  ledger: Pick<DefenderLedger, 'spec'> | undefined,
  now: Date,
): string | undefined {
  const switches = policies.map(({ spec }) => spec.killSwitch);
  const own = switches.map((each) => stopText(each, SCOPES, now)).find((text) => text !== undefined);
  if (own !== undefined) return `repairs are stopped by ${own}`;
  const { allowance } = ledger?.spec ?? {};
  const fleet = allowance && stopText(allowance.killSwitch, SCOPES, now);
  return fleet === undefined ? undefined : `the fleet is stopped by ${fleet}`;
}
