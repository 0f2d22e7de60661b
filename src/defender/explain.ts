/** Explains why acts on one machine happen or do not, from what the Defender knows: for a person on call. Pure. */
import type { DenyReason } from '../api/deny-reasons.ts';
import type { DefenderLedgerSpec, LedgerGrant, MachineHold } from '../api/generated/types.ts';
import type { DenialCause } from '../api/grants.ts';
import { isInFlight } from '../api/grants.ts';
import type { Action } from '../api/steps/steps.ts';
import { optional } from '../kube/objects/optional.ts';
import type { Decision } from './decide.ts';
import type { FleetFacts, MachineFacts } from './facts/facts.ts';
import { CLUSTER_KEY, NO_KEY } from './facts/grouping.ts';
import { grantOn, holderKey, isLapsed, isSuspect, lingersUntil } from './ledger/entries.ts';
import type { PreparedPolicies } from './policies/prepare.ts';

export interface MachineExplanation {
  readonly machine: string;
  readonly pool?: string;
  readonly zone?: string;
  readonly readiness: MachineFacts['readiness'];
  /** When the Node reported this readiness. */
  readonly readinessSince?: string;
  /** Remarks on the machine: it has no Node, is cordoned, or is excluded. */
  readonly notes: readonly string[];
  readonly holds: readonly MachineHold[];
  /** The waits of the Machine and its jobs, with the reasons and messages that they report. */
  readonly waits: readonly ObjectWait[];
  /** The last act on the machine that still counts. */
  readonly grant?: GrantInTheWay;
  readonly acts: readonly ActVerdict[];
  readonly breakers: readonly OpenBreaker[];
  readonly ledger: { readonly seq: number; readonly recovering: boolean };
  /** How long ago the stalest of the views had contact with the API server. */
  readonly factsAgeSeconds?: number;
}

export interface ObjectWait {
  readonly object: string;
  readonly reason: string;
  readonly since: string;
  readonly message?: string;
  /** The act or event that ends the wait, where it is known. */
  readonly unblock?: string;
}

export interface ActVerdict {
  readonly action: Action;
  readonly permitted: boolean;
  /** All causes of a denial in order of precedence; the first one is the answer. */
  readonly causes: readonly DenialCause[];
  readonly retryAt?: Date;
  /** Acts on other machines that use up the limits. */
  readonly inTheWay: readonly GrantInTheWay[];
}

export interface GrantInTheWay
  extends Pick<LedgerGrant, 'id' | 'action' | 'holder' | 'issuedAt' | 'notAfter'> {
  readonly machine: string;
  /** Suspect: started, past its end, and not settled. */
  readonly state: LedgerGrant['state'] | 'Suspect';
  /** RFC 3339: how long a settled one still counts against the limit. */
  readonly countsUntil?: string;
}

export interface OpenBreaker {
  readonly id: string;
  readonly state: string;
  readonly since: string;
  /** The earliest time at which the breaker closes. */
  readonly closesAt?: string;
  readonly evidence?: string;
}

export interface ExplainInput {
  readonly machine: MachineFacts;
  readonly readinessSince?: string;
  readonly waits: readonly ObjectWait[];
  readonly ledger: DefenderLedgerSpec;
  readonly facts: Pick<FleetFacts, 'machine' | 'view'>;
  readonly decisions: readonly (readonly [action: Action, decision: Decision])[];
  readonly policies: Pick<PreparedPolicies, 'valid'>;
  readonly now: Date;
}

export function explainMachine(input: ExplainInput): MachineExplanation {
  const { machine, waits, ledger, facts, decisions, now } = input;
  const { name, pool, zone, readiness, holds = [] } = machine;
  const own = grantOn(ledger.grants, name);
  const { ageSeconds } = facts.view;
  return {
    machine: name,
    ...optional('pool', pool),
    ...optional('zone', zone),
    readiness,
    ...optional('readinessSince', input.readinessSince),
    notes: notesOf(machine),
    holds,
    waits,
    ...(own ? { grant: grantOf(name, own, now) } : {}),
    acts: decisions.map(([action, decision]) => verdictOf(action, decision, input)),
    breakers: openBreakers(ledger),
    ledger: { seq: ledger.seq, recovering: ledger.recovering },
    ...optional('factsAgeSeconds', ageSeconds),
  };
}

function notesOf({ nodeUID, cordoned, excluded, established }: MachineFacts): readonly string[] {
  return [
    ...(nodeUID === undefined ? ['it has no Node'] : []),
    ...(nodeUID !== undefined && !established ? ['it was never Ready'] : []),
    ...(cordoned ? ['cordoned'] : []),
    ...(excluded ? ['excluded by the label kubenode.dev/exclude'] : []),
  ];
}

function verdictOf(action: Action, decision: Decision, input: ExplainInput): ActVerdict {
  if (decision.permitted) return { action, permitted: true, causes: [], inTheWay: [] };
  const { also, retryAt, permitted: _, audit: __, ...first } = decision;
  const causes = [first, ...also];
  return {
    action,
    permitted: false,
    causes,
    ...optional('retryAt', retryAt),
    inTheWay: grantsInTheWay(causes, input),
  };
}

/** The reasons that count acts at the same time. The end of an act does not end a rate, so rates are not among them. */
const OCCUPIED: ReadonlySet<DenyReason> = new Set([
  'ConcurrencyCluster',
  'ConcurrencyZone',
  'ConcurrencyPool',
  'ConcurrencyLabel',
  'ConcurrencyHolder',
  'SmallPool',
  'StormCooldown',
]);

/** Returns the grants that use up the exhausted limits, including settled ones that still count. */
function grantsInTheWay(
  causes: readonly DenialCause[],
  { machine, ledger, facts, policies, now }: ExplainInput,
): readonly GrantInTheWay[] {
  const occupied = causes.filter(({ reason }) => OCCUPIED.has(reason));
  return Object.entries(ledger.grants)
    .filter(([name, grant]) => name !== machine.name && !isLapsed(grant, now))
    .flatMap(([name, grant]) => {
      const groups = groupsOf(grant, facts.machine(name));
      const counting = occupied.filter(({ key = '' }) => groups.includes(key));
      if (counting.length === 0) return [];
      const found = grantOf(name, grant, now);
      if (isInFlight(grant)) return [found];
      const lingerSeconds = Math.max(...counting.map(({ policy }) => lingerSecondsOf(policy, policies)));
      const countsUntil = new Date(lingersUntil(grant, lingerSeconds));
      return countsUntil > now ? [{ ...found, countsUntil: countsUntil.toISOString() }] : [];
    })
    .toSorted((a, b) => Date.parse(a.issuedAt) - Date.parse(b.issuedAt));
}

function lingerSecondsOf(policy: string | undefined, { valid }: ExplainInput['policies']): number {
  return valid.find(({ name }) => name === policy)?.spec.counting.lingerSeconds ?? 0;
}

/**
 * Returns the groups in which a grant counts, named as causes name them. A machine that is not known counts in the cluster, and
 * for its holder.
 */
function groupsOf({ holder }: LedgerGrant, machine: MachineFacts | undefined): readonly string[] {
  const always = [CLUSTER_KEY, `holder ${holderKey(holder)}`];
  if (!machine) return always;
  const { pool = NO_KEY, zone = NO_KEY, labels } = machine;
  const labeled = Object.entries(labels).map(([key, value]) => `${key} ${value}`);
  return [...always, `pool ${pool}`, `zone ${zone}`, ...labeled];
}

function grantOf(machine: string, grant: LedgerGrant, now: Date): GrantInTheWay {
  const { id, action, holder, issuedAt, notAfter } = grant;
  const state = isSuspect(grant, now) ? 'Suspect' : grant.state;
  return { machine, id, action, holder, issuedAt, notAfter, state };
}

/** Reads the open breakers from the ledger, which is current also while no controller reports. */
function openBreakers({ breakers }: DefenderLedgerSpec): readonly OpenBreaker[] {
  return Object.entries(breakers).map(([id, { state, since, closesAt, evidence }]) => ({
    id,
    state,
    since,
    ...optional('closesAt', closesAt),
    ...optional('evidence', evidence),
  }));
}
