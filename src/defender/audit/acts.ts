/** Finds what the audit record has to hold of the ledger: grants that ended, answers of people, and breakers that people closed. Pure. */

import type { AuditAct, AuditAnswer, AuditClosure, AuditLine } from '../../api/audit/lines.ts';
import type { DefenderLedgerSpec, LedgerApproval, LedgerGrant } from '../../api/generated/types.ts';
import { isInFlight } from '../../api/grants.ts';
import { ownValue } from '../../kube/objects/json.ts';
import { optional } from '../../kube/objects/optional.ts';

export type AuditedLedger = Pick<DefenderLedgerSpec, 'grants' | 'approvals' | 'closures'>;

export const NO_ENTRIES: AuditedLedger = { grants: {}, approvals: {} };

/** Returns the lines for what happened between two states of the ledger. `now` is the time of what has none of its own. */
export function ledgerLines(before: AuditedLedger, after: AuditedLedger, now: Date): readonly AuditLine[] {
  return [
    ...answers(before, after),
    ...Object.entries(before.grants).flatMap(([machine, grant]) => lostAct(machine, grant, after, now)),
    ...Object.entries(after.grants).flatMap(([machine, grant]) => endedAct(machine, grant, before)),
    ...closures(before, after),
  ];
}

/** A machine has one grant: the next one may take the place of a grant that ended. */
function sameGrant(
  { grants }: AuditedLedger,
  machine: string,
  { id, issuedAt }: LedgerGrant,
): LedgerGrant | undefined {
  const found = ownValue(grants, machine);
  return found?.id === id && found.issuedAt === issuedAt ? found : undefined;
}

function endedAct(machine: string, grant: LedgerGrant, before: AuditedLedger): readonly AuditAct[] {
  const earlier = sameGrant(before, machine, grant);
  if (isInFlight(grant) || (earlier && !isInFlight(earlier))) return [];
  return [
    actOf(machine, grant, { at: grant.settledAt ?? grant.notAfter, outcome: grant.outcome ?? 'Unknown' }),
  ];
}

/** A grant that leaves without a settlement: before its act began it lapsed; later the ledger was lost. */
function lostAct(machine: string, grant: LedgerGrant, after: AuditedLedger, now: Date): readonly AuditAct[] {
  if (!isInFlight(grant) || sameGrant(after, machine, grant)) return [];
  const outcome = grant.state === 'Granted' ? 'Unused' : 'Unknown';
  return [actOf(machine, grant, { at: now.toISOString(), outcome })];
}

function actOf(
  machine: string,
  { id, issuedAt, action, risk, holder }: LedgerGrant,
  { at, outcome }: Pick<AuditAct, 'at' | 'outcome'>,
): AuditAct {
  const { kind, name, origin, revision } = holder;
  return {
    type: 'act',
    at,
    machine,
    action,
    risk,
    grant: id,
    grantedAt: issuedAt,
    holder: `${kind}/${name}`,
    ...optional('origin', origin),
    ...optional('revision', revision),
    outcome,
  };
}

function answers(before: AuditedLedger, after: AuditedLedger): readonly AuditAnswer[] {
  return Object.entries(after.approvals)
    .filter(([machine, { at, decision }]) => {
      const earlier = ownValue(before.approvals, machine);
      return earlier?.at !== at || earlier.decision !== decision;
    })
    .map(([machine, approval]) => answerOf(machine, approval));
}

function answerOf(
  machine: string,
  { at, action, holder, holderKind = 'Other', decision, by, reason }: LedgerApproval,
): AuditAnswer {
  const of = { machine, action, holder: `${holderKind}/${holder}` };
  return { type: 'answer', at, ...of, decision, by, ...optional('reason', reason) };
}

function closures(before: AuditedLedger, after: AuditedLedger): readonly AuditClosure[] {
  return Object.entries(after.closures ?? {})
    .filter(([id, { at }]) => before.closures?.[id]?.at !== at)
    .map(([breaker, { at, by, reason }]) => ({ type: 'closure', at, breaker, by, reason }));
}

/** The key of a line, by which a process that takes over finds what is in the record already. */
export function ledgerLineKey(line: AuditLine): string {
  switch (line.type) {
    case 'act':
      return `act ${line.machine} ${line.grant} ${line.grantedAt}`;
    case 'answer':
      return `answer ${line.machine} ${line.at} ${line.decision}`;
    case 'closure':
      return `closure ${line.breaker} ${line.at}`;
    case 'commit':
    case 'object':
      return '';
    default:
      return line satisfies never;
  }
}

/** Returns the acts that have not ended: only the ledger has them. */
export function inFlightActs({ grants }: AuditedLedger): readonly AuditAct[] {
  return Object.entries(grants)
    .filter(([, grant]) => isInFlight(grant))
    .map(([machine, grant]) => actOf(machine, grant, { at: grant.issuedAt, outcome: 'InFlight' }));
}
