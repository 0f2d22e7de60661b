/** What stops the Defender of a cluster or waits for an answer there, as notes of the console. Pure. */
import type { DefenderLedger, DefenderPolicy } from '../../../../api/generated/types.ts';
import { FLEET_DEFAULT } from '../../../../api/names.ts';
import { defenderLedgerPhases } from '../../../../api/status/phase-tables.ts';
import type { NoteLine, RowsByKey } from '../../../../console/state/state.ts';
import { conditionOf } from '../../../../kube/objects/conditions.ts';
import { noteRows } from './hub-rows.ts';

export function defenderNotes(
  cluster: string,
  policies: readonly DefenderPolicy[],
  ledger: DefenderLedger | undefined,
): RowsByKey<NoteLine> {
  const found = [
    ...(isWithoutDefault(policies, ledger) ? [MISSING_DEFAULT] : []),
    ...policies.flatMap(policyNotes),
    ...(ledger ? [...ledgerNotes(ledger), ...approvalNotes(ledger)] : []),
  ];
  const texts = found.map((text) => `${cluster}: ${text}`);
  return noteRows(texts, []);
}

const MISSING_DEFAULT = `the Defender denies every act: DefenderPolicy ${FLEET_DEFAULT} does not exist. Add it to the fleet repository`;

/** Where a Defender has run: before its first ledger nothing is stopped, the cluster is not installed yet. */
function isWithoutDefault(policies: readonly DefenderPolicy[], ledger: DefenderLedger | undefined): boolean {
  return ledger !== undefined && !policies.some(({ metadata }) => metadata.name === FLEET_DEFAULT);
}

function policyNotes({ metadata: { name }, spec, status }: DefenderPolicy): readonly string[] {
  return POLICY_TROUBLE.flatMap(({ type, bad, text }) => {
    const found = conditionOf(status?.conditions, type);
    return found?.status === bad ? [text(`DefenderPolicy ${name}`, found.message, spec.mode)] : [];
  });
}

interface PolicyTrouble {
  readonly type: string;
  readonly bad: 'True' | 'False';
  readonly text: (policy: string, message: string, mode: DefenderPolicy['spec']['mode']) => string;
}

const POLICY_TROUBLE: readonly PolicyTrouble[] = [
  {
    type: 'Accepted',
    bad: 'False',
    // In another mode it denies nothing, refused or not.
    text: (policy, message, mode) =>
      `${mode === 'Enforce' ? 'the Defender denies every act: ' : ''}${policy} is refused: ${message}. Fix it in git`,
  },
  {
    type: 'KillSwitchEngaged',
    bad: 'True',
    text: (policy, message) => `automation is stopped by ${policy}: ${message}. kubenode defender resume`,
  },
  {
    type: 'BreakerOpen',
    bad: 'True',
    text: (policy, message) => `a breaker of ${policy} is open: ${message}. kubenode defender status`,
  },
];

function ledgerNotes({ status }: DefenderLedger): readonly string[] {
  if (!status) return [];
  const phase = defenderLedgerPhases.phaseOf(status);
  if (phase === 'Ready') return [];
  const trouble = status.conditions.find(
    ({ type, status: value }) => (type === 'Ready') !== (value === 'True'),
  );
  return [
    `the ledger of the Defender is ${phase}${trouble ? `: ${trouble.message}` : ''}. kubenode defender status`,
  ];
}

function approvalNotes({ status }: DefenderLedger): readonly string[] {
  return (status?.approvals ?? []).map(
    ({ machine, action, holder }) =>
      `${action} of ${machine} for ${holder.kind} ${holder.name} waits for a person: kubenode defender approve ${machine}`,
  );
}
