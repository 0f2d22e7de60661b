/** Denies what failed in several clusters: to bring it to a further machine, and to repair machines that have it. */
import { dimensionValues, valueKey } from '../../api/diagnosis/dimensions.ts';
import type { FleetCause } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import { ruleOfOrigin } from '../../rollout/rule-waves/wave.ts';
import { type AskGuard, type GuardInput, isRepair } from '../guards/guard.ts';

export const fleetCause: AskGuard = {
  id: 'fleet-cause',
  reasons: ['FleetCause'],
  proof: {
    promise: 'a version that failed in several clusters on a further machine',
    seed: 1,
    isFleet: true,
  },
  // Reverts and rollbacks are how it ends.
  skippedByRecovery: true,
  checkedAtRenewal: false,
  check: checkCauses,
};

/** A cause has an end of its own, so that a hub that goes away for good holds nothing for ever. */
function checkCauses(input: GuardInput): readonly DenialCause[] {
  const { ledger, now } = input;
  return (ledger.allowance?.causes ?? [])
    .filter((cause) => Date.parse(cause.until) > +now && isHeld(cause, input))
    .map(({ dimension, value, policy, until, message }) => ({
      reason: 'FleetCause',
      message: `${message} (FleetPolicy ${policy} holds it until ${until})`,
      key: valueKey(dimension, value),
      until: new Date(until),
    }));
}

function isHeld({ dimension, value }: FleetCause, input: GuardInput): boolean {
  const { ask, machine } = input;
  const { brings = [] } = ask;
  if (dimension === 'failedRollouts') return brings.length > 0;
  if (dimension === 'componentUpdate') return brings.includes(value);
  if (!isRepair(input)) return false;
  return dimension === 'rule'
    ? ruleOfOrigin(ask.holder.origin) === value
    : dimensionValues(machine, dimension).includes(value);
}
