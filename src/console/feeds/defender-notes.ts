/** Lists what stops the Defender of a cluster or waits for an answer there, as notes of the console. Pure. */
import type { DefenderLedger, DefenderPolicy } from '../../api/generated/types.ts';
import { defenderIncidents } from '../../api/status/incidents.ts';
import { incidentHint } from '../../views/fleet/incident-hints.ts';
import type { NoteLine, RowsByKey } from '../state/state.ts';
import { incidentRows, noteRows } from './hub-rows.ts';

export function defenderNotes(
  cluster: string,
  policies: readonly DefenderPolicy[],
  ledger: DefenderLedger | undefined,
): RowsByKey<NoteLine> {
  const incidents = defenderIncidents(policies, ledger).map(
    (incident) => `${cluster}: ${incident.message}. ${incidentHint(incident)}`,
  );
  const approvals = ledger ? approvalNotes(ledger).map((text) => `${cluster}: ${text}`) : [];
  return { ...incidentRows(incidents), ...noteRows(approvals, []) };
}

function approvalNotes({ status }: DefenderLedger): readonly string[] {
  return (status?.approvals ?? []).map(
    ({ machine, action, holder }) =>
      `${action} of ${machine} for ${holder.kind} ${holder.name} waits for a person: kubenode defender approve ${machine}`,
  );
}
