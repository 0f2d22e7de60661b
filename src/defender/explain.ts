/** Why acts on one machine happen or do not, from what the Defender knows: for a person on call. Pure. */
import type { DefenderLedgerSpec, DefenderPolicy, LedgerGrant, MachineHold } from '../api/generated/types.ts';
import type { Allowance, Denial, DenialCause } from '../api/grants.ts';
import type { Action } from '../api/steps/steps.ts';
import type { FleetFacts, MachineFacts } from './facts/facts.ts';
import { isInFlight, isSuspect } from './ledger/entries.ts';

export interface MachineExplanation {
  readonly machine: string;
  readonly pool?: string;
  readonly zone?: string;
  readonly readiness: MachineFacts['readiness'];
  /** Has no Node, is cordoned, is excluded. */
  readonly notes: readonly string[];
  readonly holds: readonly MachineHold[];
  /** What the Machine and its jobs wait for, in their own words. */
  readonly waits: readonly ObjectWait[];
  /** The last act on the machine that still counts. */
  readonly grant?: GrantInTheWay;
  readonly acts: readonly ActVerdict[];
  readonly breakers: readonly OpenBreaker[];
  readonly ledger: { readonly seq: number; readonly recovering: boolean };
  /** Since the stalest of the views had contact with the API server. */
  readonly factsAgeSeconds?: number;
}

export interface ObjectWait {
  readonly object: string;
  readonly reason: string;
  readonly since: string;
  readonly message?: string;
}

export interface ActVerdict {
  readonly action: Action;
  readonly permitted: boolean;
  /** In order of precedence; the first one is the answer. */
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
}

export interface OpenBreaker {
  readonly id: string;
  readonly state: string;
  readonly since?: string;
  readonly evidence?: string;
}

export interface ExplainInput {
  readonly machine: MachineFacts;
  readonly waits: readonly ObjectWait[];
  readonly ledger: DefenderLedgerSpec;
  readonly facts: Pick<FleetFacts, 'machine' | 'view'>;
  readonly policies: readonly DefenderPolicy[];
  readonly answers: readonly (readonly [action: Action, answer: Denial | Allowance])[];
  readonly now: Date;
}

export function explainMachine(input: ExplainInput): MachineExplanation {
  const { machine, waits, ledger, facts, policies, answers, now } = input;
  const { name, pool, zone, readiness, holds = [] } = machine;
  const own = ledger.grants[name];
  const { ageSeconds } = facts.view;
  return {
    machine: name,
    ...(pool === undefined ? {} : { pool }),
    ...(zone === undefined ? {} : { zone }),
    readiness,
    notes: notesOf(machine),
    holds,
    waits,
    ...(own ? { grant: grantOf(name, own, now) } : {}),
    acts: answers.map(([action, answer]) => verdictOf(action, answer, input)),
    breakers: openBreakers(policies),
    ledger: { seq: ledger.seq, recovering: ledger.recovering },
    ...(ageSeconds === undefined ? {} : { factsAgeSeconds: ageSeconds }),
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

function verdictOf(action: Action, answer: Denial | Allowance, input: ExplainInput): ActVerdict {
  if (answer.granted) return { action, permitted: true, causes: [], inTheWay: [] };
  const { also, retryAt, granted: _, ...first } = answer;
  const causes = [first, ...also];
  return {
    action,
    permitted: false,
    causes,
    ...(retryAt ? { retryAt } : {}),
    inTheWay: grantsInTheWay(causes, input),
  };
}

const SHOWN = 5;

/** Of the groups whose limits are used up. */
function grantsInTheWay(
  causes: readonly DenialCause[],
  { machine, ledger, facts, now }: ExplainInput,
): readonly GrantInTheWay[] {
  const keys = new Set(causes.filter(({ limit }) => limit !== undefined).map(({ key }) => key));
  return Object.entries(ledger.grants)
    .filter(([name, grant]) => name !== machine.name && isInFlight(grant) && isIn(facts.machine(name), keys))
    .toSorted(([, a], [, b]) => Date.parse(a.issuedAt) - Date.parse(b.issuedAt))
    .slice(0, SHOWN)
    .map(([name, grant]) => grantOf(name, grant, now));
}

/** A grant of a machine that is not known counts in the cluster only. */
function isIn(machine: MachineFacts | undefined, keys: ReadonlySet<string | undefined>): boolean {
  const groups = machine ? [`pool ${machine.pool}`, `zone ${machine.zone}`] : [];
  return ['cluster', ...groups].some((key) => keys.has(key));
}

function grantOf(machine: string, grant: LedgerGrant, now: Date): GrantInTheWay {
  const { id, action, holder, issuedAt, notAfter } = grant;
  const state = isSuspect(grant, now) ? 'Suspect' : grant.state;
  return { machine, id, action, holder, issuedAt, notAfter, state };
}

function openBreakers(policies: readonly DefenderPolicy[]): readonly OpenBreaker[] {
  return policies.flatMap(({ metadata, status }) =>
    (status?.breakers ?? []).map(({ name = '', key = '', state = '', since, evidence }) => ({
      id: `${metadata.name}/${name}/${key}`,
      state,
      ...(since === undefined ? {} : { since }),
      ...(evidence === undefined ? {} : { evidence }),
    })),
  );
}
