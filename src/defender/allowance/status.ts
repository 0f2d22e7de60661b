/** The status of the FleetAllowance: what the Defender adopted, what is in use, and what acts wait for. The hub relies on it. Pure. */
import type {
  DefenderLedgerSpec,
  FleetAllowance,
  FleetAllowanceStatus,
  FleetLimitUse,
  LedgerAllowance,
} from '../../api/generated/types.ts';
import { isEngaged } from '../../api/status/pauses.ts';
import { fleetAllowancePhases } from '../../api/status/phase-tables.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { FailureReport } from './failures.ts';
import { isValidAt, usedOf } from './limits.ts';
import type { ShareRequest } from './share-requests.ts';

export interface AllowanceStatusInput {
  readonly allowance: FleetAllowance;
  readonly ledger: DefenderLedgerSpec;
  readonly request: (limit: string) => ShareRequest;
  readonly failed: FailureReport;
  readonly now: Date;
}

export function allowanceStatus(input: AllowanceStatusInput): FleetAllowanceStatus {
  const { allowance, ledger, failed, now } = input;
  const { metadata, status } = allowance;
  const { allowance: adopted } = ledger;
  const conditions = withConditions(status?.conditions, findings(input), now, metadata.generation);
  const head = {
    ...optional('observedGeneration', metadata.generation),
    phase: fleetAllowancePhases.phaseOf({ conditions }),
    conditions,
  };
  if (!adopted) return head;
  const { hub, epoch, seq, until, adoptedAt: at, causes } = adopted;
  return {
    ...head,
    hub,
    epoch,
    seq,
    at,
    until,
    limits: uses(adopted, input),
    // Only where a policy asks for it.
    ...(causes ? failed : {}),
  };
}

function uses(
  { limits }: LedgerAllowance,
  { ledger, request, now }: AllowanceStatusInput,
): readonly FleetLimitUse[] {
  return limits.map((limit) => {
    const { id, share } = limit;
    const { requested, since } = request(id);
    const requestedSince = optional('requestedSince', since?.toISOString());
    return { id, share, used: usedOf(ledger, limit, now), requested, ...requestedSince };
  });
}

function findings({ allowance: { spec }, ledger, now }: AllowanceStatusInput): readonly ConditionUpdate[] {
  const { allowance: adopted } = ledger;
  const isAdopted = adopted?.hub === spec.hub && adopted.epoch === spec.epoch && adopted.seq === spec.seq;
  return [
    isAdopted
      ? { type: 'Adopted', status: 'True', reason: 'InLedger', message: 'every decision keeps to it' }
      : { type: 'Adopted', status: 'False', reason: 'NotYet', message: notAdopted(spec, adopted) },
    inForce(adopted, now),
    stopOfHub(adopted, now),
  ];
}

function notAdopted(
  { hub, epoch, seq }: FleetAllowance['spec'],
  adopted: LedgerAllowance | undefined,
): string {
  if (!adopted) return 'the Defender has not written it to its ledger yet';
  return adopted.hub === hub
    ? `decisions keep to epoch ${adopted.epoch}, seq ${adopted.seq}, and not yet to epoch ${epoch}, seq ${seq}`
    : `hub ${adopted.hub} handed out what is in force until ${adopted.until}, and this is of hub ${hub}: only one hub may have this cluster`;
}

function inForce(adopted: LedgerAllowance | undefined, now: Date): ConditionUpdate {
  const type = 'InForce';
  if (!adopted) {
    return { type, status: 'False', reason: 'NotAdopted', message: 'no limit over clusters holds yet' };
  }
  if (isValidAt(adopted, now)) {
    return { type, status: 'True', reason: 'Current', message: `until ${adopted.until}` };
  }
  const message = `the hub has not renewed what ended at ${adopted.until}: the cluster continues at its floor`;
  return { type, status: 'False', reason: 'Ended', message };
}

/** Whether the hub has stopped this cluster. */
export function stopOfHub(adopted: LedgerAllowance | undefined, now: Date): ConditionUpdate {
  const type = 'KillSwitchEngaged';
  if (!adopted || !isEngaged(adopted.killSwitch, now)) {
    return { type, status: 'False', reason: 'NotEngaged', message: 'the hub has not stopped this cluster' };
  }
  const { by = 'unknown', reason = 'no reason given' } = adopted.killSwitch;
  return { type, status: 'True', reason: 'Engaged', message: `stopped from the hub by ${by}: ${reason}` };
}
