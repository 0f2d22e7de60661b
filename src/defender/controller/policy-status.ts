/** The status of a DefenderPolicy: whether it decides, what it stops, and how much of its limits is used. Pure. */
import type {
  BreakerStatus,
  DefenderLedgerSpec,
  DefenderPolicy,
  DefenderPolicyStatus,
  PolicyAlert,
} from '../../api/generated/types.ts';
import { FLEET_DEFAULT } from '../../api/names.ts';
import { defenderPolicyPhases } from '../../api/status/phase-tables.ts';
import type { Problem } from '../../api/validation/validate.ts';
import { type ConditionUpdate, withConditions } from '../../kube/objects/conditions.ts';
import { optional } from '../../kube/objects/optional.ts';
import { type AskedAlert, recordAlerts } from '../alerts/recorded-alerts.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { darkZones } from '../guards/view/dark-zone.ts';
import { endedTimes } from '../policies/ended.ts';
import { looserNumbers } from '../policies/looser.ts';
import { unapprovedPercentages } from '../policies/machine-percent.ts';
import type { PreparedPolicies, PreparedPolicy } from '../policies/prepare.ts';
import { acceptanceProblems } from '../policies/unsupported.ts';
import { limitUsage } from './usage.ts';

export interface PolicyStatusInput {
  readonly policy: DefenderPolicy;
  readonly policies: PreparedPolicies;
  /** The content of the ledger. Undefined: it was not read. */
  readonly ledger: DefenderLedgerSpec | undefined;
  readonly facts: FleetFacts;
  readonly denials: Readonly<Record<string, number>>;
  readonly now: Date;
  /** The last answer of Prometheus to a query. Undefined: this process does not ask. */
  readonly alertOf?: ((query: string) => AskedAlert | undefined) | undefined;
}

const SHOWN = 20;
const SHOWN_ZONES = 5;
const MAX_KEY = 64;

export function policyStatus(input: PolicyStatusInput): DefenderPolicyStatus {
  const { policy, policies, ledger, facts, denials, now, alertOf } = input;
  const alerts = recordAlerts(policy, alertOf ?? (() => undefined), now);
  const { name, generation } = policy.metadata;
  const breakers = breakersOf(name, ledger);
  const observedGeneration = optional('observedGeneration', generation);
  const prepared = policies.valid.find((each) => each.name === name);
  const findings = [
    accepted(policy, policies, now),
    inForce(policy, alerts),
    stopped(policy, now),
    breakerOpen(name, breakers),
    zoneDark(prepared, facts),
  ];
  const conditions = withConditions(policy.status?.conditions, findings, now, generation);
  return {
    ...observedGeneration,
    phase: defenderPolicyPhases.phaseOf({ conditions }),
    conditions,
    ...optional('ledgerSeq', ledger?.seq),
    usage: prepared && ledger ? limitUsage(prepared, { policies, ledger, facts, now }) : [],
    breakers: breakers.slice(0, SHOWN),
    ...(alerts.length > 0 && { alerts }),
    ...(Object.keys(denials).length > 0 && { denials }),
  };
}

function accepted(policy: DefenderPolicy, policies: PreparedPolicies, now: Date): ConditionUpdate {
  const type = 'Accepted';
  const problems = acceptanceProblems(policy);
  if (problems.length > 0) return { type, status: 'False', reason: 'Invalid', message: problems.join('; ') };
  const refused = refusedInGit(policy, policies);
  if (refused.length > 0) {
    const message = `decided by, but refused in git: ${refused.join('; ')}`;
    return { type, status: 'False', reason: 'RefusedInGit', message };
  }
  const message = ['every field can be decided by', ...endedTimes(policy.spec, now).map(problemText)].join(
    '; ',
  );
  return { type, status: 'True', reason: 'Valid', message };
}

/** Returns why git would refuse the policy, for an object that reached the cluster past sync. Its decisions are not wrong, so they hold. */
function refusedInGit({ metadata, spec }: DefenderPolicy, { valid }: PreparedPolicies): readonly string[] {
  const fleetDefault = valid.find(({ name }) => name === FLEET_DEFAULT);
  const isCompared = fleetDefault !== undefined && metadata.name !== FLEET_DEFAULT;
  const problems = [
    ...(isCompared ? looserNumbers(spec, fleetDefault.spec) : []),
    ...unapprovedPercentages(spec),
  ];
  return problems.map(problemText);
}

function problemText({ path, message }: Problem): string {
  return `${path}: ${message}`;
}

function inForce(policy: DefenderPolicy, alerts: readonly PolicyAlert[]): ConditionUpdate {
  const type = 'InForce';
  const isAudit = policy.spec.mode === 'Audit';
  if (acceptanceProblems(policy).length > 0) {
    const audit = policy.spec.killSwitch.engaged ? 'only its kill switch decides' : 'it decides nothing';
    const message = isAudit ? audit : 'every ask is denied until the policy is fixed';
    return { type, status: 'False', reason: 'NotAccepted', message };
  }
  const unreadable = alerts.flatMap(({ name, state, message = '' }) =>
    state === 'Unknown' ? [`query ${name} could not be read, and denies: ${message}`] : [],
  );
  const decided = ['asks are decided by this generation', ...unreadable].join('; ');
  return isAudit
    ? { type, status: 'True', reason: 'Audit', message: 'denials are recorded, and deny nothing' }
    : { type, status: 'True', reason: 'Enforced', message: decided };
}

function stopped({ spec: { killSwitch } }: DefenderPolicy, now: Date): ConditionUpdate {
  const type = 'KillSwitchEngaged';
  const { engaged, scope, by = 'unknown', reason = 'no reason given', until } = killSwitch;
  if (!engaged) return { type, status: 'False', reason: 'NotEngaged', message: 'not engaged' };
  if (until !== undefined && Date.parse(until) <= +now) {
    return { type, status: 'False', reason: 'Ended', message: `ended at ${until}` };
  }
  const end = until === undefined ? 'until it is disengaged' : `until ${until}`;
  const message = `engaged by ${by} for ${scope}, ${end}: ${reason}. Settling and uncordoning continue`;
  return { type, status: 'True', reason: 'Engaged', message };
}

function breakerOpen(policy: string, breakers: readonly BreakerStatus[]): ConditionUpdate {
  const type = 'BreakerOpen';
  if (breakers.length === 0) {
    return { type, status: 'False', reason: 'AllClosed', message: 'all breakers are closed' };
  }
  const needsPerson = breakers.some(({ state }) => state === 'NeedsPerson');
  const message = breakers.map((breaker) => describeBreaker(policy, breaker)).join('; ');
  return { type, status: 'True', reason: needsPerson ? 'NeedsPerson' : 'Open', message };
}

/**
 * Reports whether a zone is dark. It is Unknown while a view is not complete: a zone that is not observed may be dark, and
 * nothing is granted then anyway.
 */
function zoneDark(policy: PreparedPolicy | undefined, facts: FleetFacts): ConditionUpdate {
  const type = 'ZoneDark';
  if (policy === undefined || facts.view.ageSeconds === undefined) {
    return { type, status: 'Unknown', reason: 'NotObserved', message: 'the zones are not counted' };
  }
  const dark = darkZones(policy, facts).map(({ message }) => message);
  if (dark.length === 0) {
    return { type, status: 'False', reason: 'NoneDark', message: 'no zone is dark' };
  }
  const shown = dark.length > SHOWN_ZONES ? [`and ${dark.length - SHOWN_ZONES} more`] : [];
  const message = [...dark.slice(0, SHOWN_ZONES), ...shown].join('; ');
  return { type, status: 'True', reason: 'ZoneDark', message };
}

function describeBreaker(
  policy: string,
  { name = '', key = '', state, evidence = 'no evidence recorded', closesAt }: BreakerStatus,
): string {
  const unblocks = {
    Open: `half open ${closesAt === undefined ? 'when the cause is over' : `after ${closesAt}, when the cause is over`}`,
    HalfOpen: 'closes when its next act succeeds',
    NeedsPerson: `close it with: kubenode defender close '${policy}/${name}/${key}' --reason ...`,
  };
  return `${name} of ${key} is ${state ?? 'Open'}: ${evidence}; ${unblocks[state ?? 'Open']}`;
}

/** Returns the breakers of a policy; those that wait for a person come first. */
export function breakersOf(
  policy: string,
  ledger: Pick<DefenderLedgerSpec, 'breakers'> | undefined,
): readonly BreakerStatus[] {
  const start = `${policy}/`;
  return Object.entries(ledger?.breakers ?? {})
    .filter(([id]) => id.startsWith(start))
    .map(([id, { state, since, evidence, closesAt }]) => {
      const [name = '', ...key] = id.slice(start.length).split('/');
      return {
        name,
        key: key.join('/').slice(0, MAX_KEY),
        state,
        since,
        ...optional('evidence', evidence),
        ...optional('closesAt', closesAt),
      };
    })
    .toSorted((a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || (a.since < b.since ? -1 : 1));
}

const ORDER = ['NeedsPerson', 'Open', 'HalfOpen'];
