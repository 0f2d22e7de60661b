/** Finds what endangers the machines of a cluster, or stops their repairs and updates, in what its Defender reports. Pure. */
import { type Condition, conditionOf } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import type {
  ClusterIncident,
  DefenderLedger,
  DefenderLedgerStatus,
  DefenderPolicy,
} from '../generated/types.ts';
import { FLEET_DEFAULT } from '../names.ts';
import { INCIDENT_REASONS, type IncidentReason } from './incident-reasons.ts';
import { defenderLedgerPhases } from './phase-tables.ts';

/** The most urgent first. */
export function defenderIncidents(
  policies: readonly DefenderPolicy[],
  ledger: DefenderLedger | undefined,
): readonly ClusterIncident[] {
  const found = [
    ...(isWithoutDefault(policies, ledger) ? [MISSING_DEFAULT] : []),
    ...policies.flatMap(policyIncidents),
    ...(ledger ? ledgerIncidents(ledger) : []),
  ];
  // Several policies may report the same zone.
  const unique = new Map(found.map((each) => [each.message, each]));
  return [...unique.values()].toSorted((a, b) => urgencyOf(a) - urgencyOf(b));
}

function urgencyOf({ reason }: ClusterIncident): number {
  return INCIDENT_REASONS.indexOf(reason);
}

const MISSING_DEFAULT: ClusterIncident = {
  reason: 'PolicyMissing',
  message: `the Defender denies every act: DefenderPolicy ${FLEET_DEFAULT} does not exist`,
};

/** Where a Defender has run: before its first ledger nothing is stopped, the cluster is not installed yet. */
function isWithoutDefault(policies: readonly DefenderPolicy[], ledger: DefenderLedger | undefined): boolean {
  return ledger !== undefined && !policies.some(({ metadata }) => metadata.name === FLEET_DEFAULT);
}

interface PolicyTrouble {
  readonly type: string;
  readonly bad: 'True' | 'False';
  readonly reason: IncidentReason;
  readonly text: (policy: string, message: string, mode: DefenderPolicy['spec']['mode']) => string;
}

const POLICY_TROUBLE: readonly PolicyTrouble[] = [
  {
    type: 'Accepted',
    bad: 'False',
    reason: 'PolicyRefused',
    // In another mode it denies nothing, refused or not.
    text: (policy, message, mode) =>
      `${mode === 'Enforce' ? 'the Defender denies every act: ' : ''}${policy} is refused: ${message}`,
  },
  {
    type: 'KillSwitchEngaged',
    bad: 'True',
    reason: 'Stopped',
    text: (policy, message) => `automation is stopped by ${policy}: ${message}`,
  },
  {
    type: 'BreakerOpen',
    bad: 'True',
    reason: 'BreakerOpen',
    text: (policy, message) => `a breaker of ${policy} is open: ${message}`,
  },
  {
    type: 'ZoneDark',
    bad: 'True',
    reason: 'ZoneDark',
    text: (_, message, mode) =>
      mode === 'Enforce' ? `${message}. Nothing there is repaired or updated` : message,
  },
];

function policyIncidents({ metadata: { name }, spec, status }: DefenderPolicy): readonly ClusterIncident[] {
  return POLICY_TROUBLE.flatMap(({ type, bad, reason, text }) => {
    const found = conditionOf(status?.conditions, type);
    if (found?.status !== bad) return [];
    return [incident(reason, text(`DefenderPolicy ${name}`, found.message, spec.mode), found)];
  });
}

function ledgerIncidents({ status }: DefenderLedger): readonly ClusterIncident[] {
  if (!status) return [];
  const held = conditionOf(status.conditions, 'RuleHeld');
  const rules = held?.status === 'True' ? [incident('RuleHeld', held.message, held)] : [];
  const stop = conditionOf(status.conditions, 'KillSwitchEngaged');
  const stopped =
    stop?.status === 'True' ? [incident('FleetStopped', `automation is ${stop.message}`, stop)] : [];
  return [...readyIncidents(status), ...stopped, ...rules];
}

/** Conditions of the ledger that are incidents of their own. */
const OWN_INCIDENTS: readonly string[] = ['RuleHeld', 'KillSwitchEngaged'];

function readyIncidents(status: DefenderLedgerStatus): readonly ClusterIncident[] {
  const phase = defenderLedgerPhases.phaseOf(status);
  if (phase === 'Ready') return [];
  const trouble = status.conditions.find(
    ({ type, status: value }) => !OWN_INCIDENTS.includes(type) && (type === 'Ready') !== (value === 'True'),
  );
  const message = `the ledger of the Defender is ${phase}${trouble ? `: ${trouble.message}` : ''}`;
  return [incident('LedgerNotReady', message, trouble)];
}

function incident(
  reason: IncidentReason,
  message: string,
  condition: Pick<Condition, 'lastTransitionTime'> | undefined,
): ClusterIncident {
  return { reason, message, ...optional('since', condition?.lastTransitionTime) };
}
