/** Finds the rules that begin no repair because a wave of them failed: only people end that, so it is an incident. Pure. */
import type { DefenderLedgerSpec } from '../../api/generated/types.ts';
import { FLEET_DEFAULT } from '../../api/names.ts';
import type { ConditionUpdate } from '../../kube/objects/conditions.ts';
import { failedText, isProvenRule, waveOf } from '../../rollout/rule-waves/wave.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { CLUSTER_KEY } from '../facts/grouping.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';

export interface HeldRulesInput {
  readonly policies: PreparedPolicies;
  readonly facts: Pick<FleetFacts, 'group' | 'modeOfRule'>;
  readonly now: Date;
}

const SHOWN = 5;

/** Returns a text for each rule; undefined: the waves of rules are not known, because the policy of them is not. */
export function heldRules(
  ledger: DefenderLedgerSpec,
  { policies, facts, now }: HeldRulesInput,
): readonly string[] | undefined {
  const found = policies.valid.find(({ name }) => name === FLEET_DEFAULT);
  if (!found) return undefined;
  const machines = facts.group(found.cluster.id, CLUSTER_KEY).total;
  return Object.entries(ledger.rules ?? {})
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([rule, entry]) => {
      if (isProvenRule(entry) || (facts.modeOfRule?.(rule) ?? 'Enforce') !== 'Enforce') return [];
      const wave = waveOf({ rule, entry, ledger, policy: found.spec.ruleWaves, machines, now });
      if (wave.failed <= wave.tolerated) return [];
      return [`rule ${rule} begins no repair: wave ${wave.number} of ${wave.of}: ${failedText(wave)}`];
    });
}

export function ruleHeld(held: readonly string[] | undefined): ConditionUpdate {
  const type = 'RuleHeld';
  if (!held) {
    const message = `DefenderPolicy ${FLEET_DEFAULT} is missing or refused: waves of rules are not judged`;
    return { type, status: 'Unknown', reason: 'PolicyMissing', message };
  }
  if (held.length === 0) {
    return { type, status: 'False', reason: 'NoneHeld', message: 'no wave of a rule has failed' };
  }
  const rest = held.length > SHOWN ? [`and ${held.length - SHOWN} more`] : [];
  return {
    type,
    status: 'True',
    reason: 'WaveFailed',
    message: [...held.slice(0, SHOWN), ...rest].join('; '),
  };
}
