/**
 * Decides whether an act is safe now: from policies, ledger, facts, ask and time it makes a grant, or a denial that names what
 * decided. Pure and total: every check is evaluated, and the first reason in order of precedence is the answer.
 */
import { DENY_REASONS } from '../api/deny-reasons.ts';
import type { DefenderLedgerSpec, DefenderPolicy } from '../api/generated/types.ts';
import type { DenialCause, GrantAsk } from '../api/grants.ts';
import { FLEET_DEFAULT } from '../api/names.ts';
import type { FleetFacts } from './facts/facts.ts';
import { isRecoveryStep } from './guards/ask-valid.ts';
import type { Guard, GuardInput } from './guards/guard.ts';
import { GUARDS } from './guards/guards.ts';
import { createLedgerUsage, type LedgerUsage } from './ledger/usage.ts';
import { appliesTo } from './policies/matches.ts';
import { type PreparedPolicies, type PreparedPolicy, preparePolicies } from './policies/prepare.ts';

/** Holds what the decisions of one batch share. */
export interface DecisionInput {
  readonly policies: PreparedPolicies;
  readonly ledger: DefenderLedgerSpec;
  readonly usage: LedgerUsage;
  readonly facts: FleetFacts;
  readonly now: Date;
  /** Ids of guards that are not checked: for the simulator, which shows that each one is needed. */
  readonly without?: ReadonlySet<string>;
}

/** The ask, or the renewal of its grant. */
export type DecisionAsk = GuardInput['ask'] & { readonly isRenewal?: boolean };

export type Decision =
  | { readonly permitted: true; readonly audit: readonly DenialCause[] }
  | (DenialDetails & { readonly permitted: false; readonly audit: readonly DenialCause[] });

export interface DenialDetails extends DenialCause {
  readonly also: readonly DenialCause[];
  readonly retryAt?: Date;
}

/** Makes one decision. Batches prepare policies and usage once and call `decideAsk`. */
export function decide(
  policies: readonly DefenderPolicy[],
  ledger: DefenderLedgerSpec,
  facts: FleetFacts,
  { ask, now }: { readonly ask: GrantAsk; readonly now: Date },
): Decision {
  const prepared = preparePolicies(policies);
  const usage = createLedgerUsage({ policies: prepared, ledger, facts, now });
  return decideAsk({ policies: prepared, ledger, usage, facts, now }, ask);
}

export function decideAsk(input: DecisionInput, ask: DecisionAsk): Decision {
  const { policies, facts } = input;
  const machine = facts.machine(ask.machine);
  const general = [...policyCauses(policies)];
  if (!machine) {
    const message = `machine ${ask.machine} is unknown`;
    return decisionOf([...general, { reason: 'FactUnknown', message }], []);
  }
  const guards = guardsFor(input, ask);
  const guardInput = { ...input, ask, machine };
  const applying = policies.valid.filter((policy) => appliesTo(policy, ask, machine));
  const causes = guards.flatMap((guard) => ('check' in guard ? guard.check(guardInput) : []));
  const byPolicy = applying.map((policy) => ({ policy, causes: causesOf(policy, guards, guardInput) }));
  const enforced = byPolicy.flatMap(({ policy, causes: found }) =>
    found.filter((cause) => denies(policy, cause)),
  );
  const audit = byPolicy.flatMap(({ policy, causes: found }) =>
    found.filter((cause) => !denies(policy, cause)),
  );
  return decisionOf([...general, ...causes, ...enforced], audit);
}

function guardsFor(
  { without }: DecisionInput,
  { isRenewal = false, recovery, action }: DecisionAsk,
): readonly Guard[] {
  const isRecovery = recovery === true || isRecoveryStep(action);
  return GUARDS.filter(
    ({ id, skippedByRecovery, checkedAtRenewal }) =>
      without?.has(id) !== true && !(isRecovery && skippedByRecovery) && (!isRenewal || checkedAtRenewal),
  );
}

/**
 * Returns the denials for policies that are missing or cannot be read: without the policy that is for everything, and with one
 * that cannot be read, nothing is known to be allowed.
 */
function policyCauses({ valid, problems }: PreparedPolicies): readonly DenialCause[] {
  const isMissing = !valid.some(({ name }) => name === FLEET_DEFAULT) && !problems.has(FLEET_DEFAULT);
  const missing: DenialCause = {
    reason: 'PolicyMissing',
    message: `DefenderPolicy ${FLEET_DEFAULT} is missing`,
  };
  const invalid = [...problems].map(
    ([policy, found]): DenialCause => ({
      reason: 'PolicyInvalid',
      message: `DefenderPolicy ${policy}: ${found.join('; ')}`,
      policy,
    }),
  );
  return [...(isMissing ? [missing] : []), ...invalid];
}

function causesOf(
  policy: PreparedPolicy,
  guards: readonly Guard[],
  input: GuardInput,
): readonly DenialCause[] {
  const found: DenialCause[] = [];
  for (const guard of guards) {
    if (!('checkPolicy' in guard)) continue;
    for (const cause of guard.checkPolicy(input, policy)) found.push({ ...cause, policy: policy.name });
  }
  return found;
}

function denies({ enforced }: PreparedPolicy, { reason }: DenialCause): boolean {
  return enforced || reason === 'KillSwitch';
}

function decisionOf(causes: readonly DenialCause[], audit: readonly DenialCause[]): Decision {
  const [first, ...also] = causes.toSorted(byPrecedence);
  if (!first) return { permitted: true, audit };
  const retryAt = lastEnd([first, ...also]);
  return { permitted: false, ...first, also, audit, ...(retryAt ? { retryAt } : {}) };
}

/** Compares two causes by the precedence of their reasons. Among causes of one reason, the tightest limit comes first. */
function byPrecedence(a: DenialCause, b: DenialCause): number {
  return (
    PRECEDENCE[a.reason] - PRECEDENCE[b.reason] ||
    (a.limit ?? 0) - (b.limit ?? 0) ||
    compare(a.policy, b.policy) ||
    compare(a.message, b.message)
  );
}

const PRECEDENCE = Object.fromEntries(DENY_REASONS.map((reason, index) => [reason, index])) as Readonly<
  Record<DenialCause['reason'], number>
>;

function compare(a = '', b = ''): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Returns when the last cause ends, if all end: time alone changes the answer only when it ends every cause. */
function lastEnd(causes: readonly DenialCause[]): Date | undefined {
  const ends = causes.flatMap(({ until }) => until ?? []);
  if (ends.length < causes.length) return undefined;
  return ends.reduce((last, end) => (end > last ? end : last));
}
