/** A rule that is new or has changed repairs few machines first: R10. */
import type { LedgerRule } from '../../api/generated/types.ts';
import type { DenialCause } from '../../api/grants.ts';
import { FLEET_DEFAULT } from '../../api/names.ts';
import { optional } from '../../kube/objects/optional.ts';
import { withVersion } from '../../rollout/rule-waves/progress.ts';
import {
  countsInWave,
  inForceNow,
  machinesInWave,
  mayBegin,
  ruleEntry,
  ruleOfOrigin,
  waveOf,
} from '../../rollout/rule-waves/wave.ts';
import { CLUSTER_KEY } from '../facts/grouping.ts';
import { roomFor } from '../ledger/upkeep/rule-waves.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { GuardInput, PolicyGuard } from './guard.ts';
import { LEDGER_MAXIMUM } from './ledger-state.ts';

export const ruleWaves: PolicyGuard = {
  id: 'rule-waves',
  reasons: ['RuleWave', 'LedgerFull'],
  proof: { promise: 'a rule on more machines than its wave permits', seed: 1, hasNewRules: true },
  skippedByRecovery: true,
  checkedAtRenewal: false,
  checkPolicy: checkWave,
};

/** The waves are of the whole cluster: those of the policy for all machines, whatever other policies hold. */
function checkWave(input: GuardInput, policy: PreparedPolicy): readonly DenialCause[] {
  const { ask, ledger } = input;
  const rule = ruleOfOrigin(ask.holder.origin);
  const { ruleDigest: digest } = ask;
  if (policy.name !== FLEET_DEFAULT || rule === undefined || digest === undefined) return [];
  const known = ruleEntry(ledger, rule);
  if (!countsInWave(ask) || known?.proven.includes(digest)) return [];
  if (!roomFor(ledger.rules, rule, input.now)) return [noPlace(ledger.rules, rule)];
  return waveCauses({ rule, digest, known }, input, policy);
}

interface AskingRule {
  readonly rule: string;
  readonly digest: string;
  readonly known: LedgerRule | undefined;
}

function waveCauses(
  { rule, digest, known }: AskingRule,
  { ask, ledger, facts, now }: GuardInput,
  policy: PreparedPolicy,
): readonly DenialCause[] {
  const terms = inForceNow(ledger.ruleTerms, policy.spec.ruleWaves);
  const entry = withVersion(known, digest, { inForce: terms, now });
  const machines = facts.group(policy.cluster.id, CLUSTER_KEY).total;
  const wave = waveOf({ rule, entry, ledger, policy: policy.spec.ruleWaves, machines, now });
  const verdict = mayBegin(ask.machine, entry, wave);
  if (verdict.permitted) return [];
  const key = `rule ${rule}`;
  const message = `${key}: wave ${wave.number} of ${wave.of}${verdict.isFailed ? ' failed' : ''}: ${verdict.because}`;
  const used = machinesInWave(entry, wave, ask.machine);
  return [{ reason: 'RuleWave', message, key, used, limit: wave.limit, ...optional('until', verdict.until) }];
}

/** A rule that cannot be recorded could repair machine after machine. */
function noPlace(rules: GuardInput['ledger']['rules'], rule: string): DenialCause {
  const limit = LEDGER_MAXIMUM.rules;
  const used = Object.keys(rules ?? {}).length;
  const message = `rule ${rule}: rules of the ledger: ${used} of ${limit} entries`;
  return { reason: 'LedgerFull', message, key: 'rules', used, limit };
}
