/** How far a rule is proven, for its status: the Defender records it in the ledger. Pure. */
import type {
  DefenderLedger,
  LedgerRule,
  NodeRemedier,
  NodeRemedierStatus,
} from '../../../api/generated/types.ts';
import { ANNOTATION_COMMIT } from '../../../api/names.ts';
import type { ConditionUpdate } from '../../../kube/objects/conditions.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { isHeard } from '../../../rollout/rule-waves/progress.ts';
import { behaviorDigest } from '../../../rollout/rule-waves/rule-digest.ts';
import {
  isProvenRule,
  machinesInWave,
  ruleEntry,
  type WaveState,
  waveOf,
  waveText,
} from '../../../rollout/rule-waves/wave.ts';

export interface RuleProof {
  readonly condition: ConditionUpdate;
  readonly wave?: NonNullable<NodeRemedierStatus['wave']>;
  /** Why the rule begins no repair on another machine until it is changed. */
  readonly failure?: string;
}

/** Tells whether the rule repairs machines: only then it has waves. */
export function hasWaves({ spec, metadata }: NodeRemedier): boolean {
  return spec.mode === 'Enforce' && metadata.annotations?.[ANNOTATION_COMMIT] !== undefined;
}

/** Returns the version of the rule to announce; undefined when the ledger has it. */
export function versionToAnnounce(
  remedier: NodeRemedier,
  ledger: DefenderLedger | undefined,
  now: Date,
): { readonly rule: string; readonly digest: string } | undefined {
  if (!hasWaves(remedier) || !ledger) return undefined;
  const rule = remedier.metadata.name;
  const digest = behaviorDigest(remedier);
  const entry = ruleEntry(ledger.spec, rule);
  return entry?.digest === digest && isHeard(entry, now) ? undefined : { rule, digest };
}

export interface ProofInput {
  readonly remedier: NodeRemedier;
  readonly ledger: DefenderLedger | undefined;
  /** Machines of the cluster that were Ready once. */
  readonly machines: () => number;
  readonly now: Date;
}

export function proofOf({ remedier, ledger, machines, now }: ProofInput): RuleProof | undefined {
  if (!hasWaves(remedier)) return undefined;
  const rule = remedier.metadata.name;
  const entry = ledger && ruleEntry(ledger.spec, rule);
  if (!ledger || entry?.digest !== behaviorDigest(remedier)) return NOT_RECORDED;
  if (isProvenRule(entry)) return PROVEN;
  return proofInWave(entry, waveOf({ rule, entry, ledger: ledger.spec, machines: machines(), now }));
}

const NOT_RECORDED: RuleProof = {
  condition: {
    type: 'Proven',
    status: 'Unknown',
    reason: 'NotRecorded',
    message: 'the Defender has not recorded this version of the rule yet',
  },
};

const PROVEN: RuleProof = {
  condition: {
    type: 'Proven',
    status: 'True',
    reason: 'WavesPassed',
    message: 'its waves passed: it repairs as many machines as the policies permit',
  },
};

function proofInWave(entry: LedgerRule, wave: WaveState): RuleProof {
  const used = machinesInWave(entry, wave);
  const hasFailed = wave.failed > wave.tolerated;
  const message = `wave ${wave.number} of ${wave.of}: ${waveText(wave, used)}`;
  const reason = hasFailed ? 'WaveFailed' : 'InWave';
  return {
    condition: { type: 'Proven', status: 'False', reason, message },
    wave: { index: wave.number, machines: used, since: wave.since, ...successOf(wave) },
    ...optional('failure', hasFailed ? message : undefined),
  };
}

function successOf({ succeeded, failed }: WaveState): { readonly successPercent?: number } {
  const ended = succeeded + failed;
  return ended === 0 ? {} : { successPercent: Math.floor((succeeded * 100) / ended) };
}
