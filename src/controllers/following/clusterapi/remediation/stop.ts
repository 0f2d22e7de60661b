/** Whether people stopped repairs: in this cluster, or from the hub for all. Then nothing is handed back either: it would be replaced. Pure. */
import type { DefenderLedger, DefenderPolicy } from '../../../../api/generated/types.ts';
import { KILL_SWITCH } from '../../../../api/names.ts';
import { stopText } from '../../../../api/status/pauses.ts';

const SCOPES = ['All', 'Remedy'] as const;

/** Returns who stopped repairs, why, and what ends it. The switch of a policy holds in every mode. */
export function repairStop(
  policies: readonly Pick<DefenderPolicy, 'metadata' | 'spec'>[],
  ledger: Pick<DefenderLedger, 'spec'> | undefined,
  now: Date,
): string | undefined {
  for (const { metadata, spec } of policies) {
    const own = stopText(spec.killSwitch, SCOPES, now);
    if (own !== undefined) return `repairs are stopped by ${own}. ${resumeOf(metadata.name)}`;
  }
  const { allowance } = ledger?.spec ?? {};
  const fleet = allowance && stopText(allowance.killSwitch, SCOPES, now);
  return fleet === undefined
    ? undefined
    : `the fleet is stopped by ${fleet}. To resume, run: kubenode fleet resume`;
}

function resumeOf(policy: string): string {
  return policy === KILL_SWITCH
    ? 'To resume, run: kubenode defender resume'
    : `To resume, change spec.killSwitch of DefenderPolicy ${policy} in git`;
}
