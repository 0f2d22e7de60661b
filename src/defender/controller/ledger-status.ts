/** The status of the DefenderLedger: whether it can be used, how full it is, and what waits for a person. Pure. */
import type {
  DefenderLedger,
  DefenderLedgerSpec,
  DefenderLedgerStatus,
  LedgerPendingApproval,
  MachineCounts,
} from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { NAMESPACE_AUDIT } from '../../api/names.ts';
import { defenderLedgerPhases } from '../../api/status/phase-tables.ts';
import { type ConditionUpdate, conditionOf, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { stopOfHub } from '../allowance/status.ts';
import { LEDGER_MAXIMUM } from '../guards/ledger-state.ts';
import { jsonBytes } from '../ledger/usage.ts';
import { ruleHeld } from './held-rules.ts';
import type { SuspectPlan } from './plan.ts';

export interface LedgerStatusInput {
  readonly ledger: DefenderLedger;
  /** Grants past their end. */
  readonly suspects: readonly SuspectPlan[];
  /** Acts that wait for the answer of a person. */
  readonly approvals: readonly LedgerPendingApproval[];
  readonly conflicts: number;
  /** Undefined: they are not all known. */
  readonly machines: MachineCounts | undefined;
  /** Why the last write failed. */
  readonly failure: string | undefined;
  /** Rules that are held by a failed wave; undefined: not known. */
  readonly held: readonly string[] | undefined;
  /** Absent where no audit record is kept: in a simulation. */
  readonly recording?: ActRecording;
  readonly now: Date;
}

/** Whether acts on machines reach the audit record. */
export interface ActRecording {
  /** Why the last append failed. */
  readonly problem?: string;
  /** Lines that were lost, because the record could not be written for long. */
  readonly dropped: number;
}

const NEAR_FULL = 0.8;
const SHOWN = 5;

export function ledgerStatus(input: LedgerStatusInput): DefenderLedgerStatus {
  const { ledger, suspects, approvals, conflicts, machines, now } = input;
  const { spec, metadata, status } = ledger;
  const observedGeneration = optional('observedGeneration', metadata.generation);
  const sizeBytes = jsonBytes(spec);
  const findings = [
    ready(input),
    nearFull(spec, sizeBytes),
    suspect(suspects),
    ruleHeld(input.held),
    ...hubStop(input),
    ...unrecorded(input),
  ];
  const conditions = withConditions(status?.conditions, findings, now, metadata.generation);
  const grants = Object.values(spec.grants);
  const inFlight = grants.filter(isInFlight).length;
  return {
    ...observedGeneration,
    phase: defenderLedgerPhases.phaseOf({ conditions }),
    conditions,
    grants: { inFlight, lingering: grants.length - inFlight, suspect: suspects.length },
    sizeBytes,
    casConflicts: conflicts,
    approvals,
    ...optional('machines', machines),
  };
}

function ready({ ledger: { spec }, failure }: LedgerStatusInput): ConditionUpdate {
  const type = 'Ready';
  if (failure !== undefined) return { type, status: 'False', reason: 'NotWritten', message: failure };
  if (spec.recovering) {
    const message = `recreated or restored at ${spec.recoveringSince ?? 'unknown'}: everything is denied for 300 s`;
    return { type, status: 'False', reason: 'Recovering', message };
  }
  return { type, status: 'True', reason: 'Written', message: `epoch ${spec.epoch}` };
}

/** Only in a cluster that a hub limits, or limited before. */
function hubStop({ ledger: { spec, status }, now }: LedgerStatusInput): readonly ConditionUpdate[] {
  const isKnown = conditionOf(status?.conditions, 'KillSwitchEngaged') !== undefined;
  return spec.allowance || isKnown ? [stopOfHub(spec.allowance, now)] : [];
}

/** Repairs go on without a record, so nothing else shows that it is missing. */
function unrecorded({ recording }: LedgerStatusInput): readonly ConditionUpdate[] {
  if (!recording) return [];
  const { problem, dropped } = recording;
  const type = 'Unrecorded';
  const lost = dropped > 0 ? '; acts were lost, because it could not be written for long' : '';
  if (problem === undefined) {
    return [{ type, status: 'False', reason: 'Recorded', message: `acts are in the audit record${lost}` }];
  }
  const hint = `Check the namespace ${NAMESPACE_AUDIT}, and run kubenode install if it is missing`;
  const message = `acts are not written to the audit record: ${problem}${lost}. ${hint}`;
  return [{ type, status: 'True', reason: 'NotWritten', message }];
}

function nearFull(spec: DefenderLedgerSpec, sizeBytes: number): ConditionUpdate {
  const used = {
    grants: Object.keys(spec.grants).length,
    gone: Object.keys(spec.gone).length,
    rates: Object.keys(spec.rates).length,
    breakers: Object.keys(spec.breakers).length,
    approvals: Object.keys(spec.approvals).length,
    rules: Object.keys(spec.rules ?? {}).length,
    bytes: sizeBytes,
  };
  const full = (Object.keys(used) as (keyof typeof used)[]).filter(
    (part) => used[part] > LEDGER_MAXIMUM[part] * NEAR_FULL,
  );
  const type = 'NearFull';
  const room = 'below 80 % of every bound';
  if (full.length === 0) return { type, status: 'False', reason: 'HasRoom', message: room };
  const message = full.map((part) => `${part}: ${used[part]} of ${LEDGER_MAXIMUM[part]}`).join('; ');
  return { type, status: 'True', reason: 'NearFull', message };
}

function suspect(suspects: readonly SuspectPlan[]): ConditionUpdate {
  const type = 'Suspect';
  const waiting = suspects.filter(({ settlement }) => !settlement);
  if (waiting.length === 0) {
    return { type, status: 'False', reason: 'AllKnown', message: 'no started grant is past its end' };
  }
  const names = waiting.slice(0, SHOWN).map(({ machine, because }) => `${machine}: ${because}`);
  const rest = waiting.length > SHOWN ? [`and ${waiting.length - SHOWN} more`] : [];
  const hint = 'settle with: kubenode defender settle MACHINE';
  return { type, status: 'True', reason: 'PastEnd', message: [...names, ...rest, hint].join('; ') };
}
