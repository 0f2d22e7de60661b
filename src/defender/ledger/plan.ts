/** One write of the ledger for a batch of requests: its next content, and the answer to each. Pure. */
import type { DenyReason } from '../../api/deny-reasons.ts';
import type { DefenderLedgerSpec, LedgerGrant } from '../../api/generated/types.ts';
import type { DenialCause, GrantAsk, GrantSettlement } from '../../api/grants.ts';
import { optional } from '../../kube/objects/optional.ts';
import { answeredReason } from '../approvals/plan.ts';
import { closeBreaker, reviewBreakers } from '../breakers/review.ts';
import { type Decision, type DecisionInput, decideAsk } from '../decide.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { isClockTrusted } from '../guards/self-doubt.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import { createDraft, finishDraft, type LedgerDraft } from './draft.ts';
import { isInFlight, isLapsed, isSameHolder } from './entries.ts';
import { expireEntries } from './expire.ts';
import { issueGrant } from './issue.ts';
import { isRecovered } from './recover.ts';
import { renewalAsk, renewGrant } from './renew.ts';
import { DONE, type LedgerAnswer, type LedgerRequest } from './requests.ts';
import { type FoundGrant, settleGrant, settlementProblem } from './settle.ts';
import { createLedgerUsage } from './usage.ts';

export interface LedgerPlanInput {
  readonly ledger: DefenderLedgerSpec;
  readonly policies: PreparedPolicies;
  readonly facts: FleetFacts;
  readonly now: Date;
  readonly epoch: number;
  readonly without?: ReadonlySet<string>;
}

export interface LedgerPlan {
  /** Undefined: nothing to write. */
  readonly next: DefenderLedgerSpec | undefined;
  /** In the order of the requests. */
  readonly answers: readonly LedgerAnswer[];
  /** Of all denials, and in mode Audit of what would have been denied. */
  readonly causes: readonly DenialCause[];
}

interface Batch {
  readonly draft: LedgerDraft;
  readonly input: DecisionInput;
  issued: number;
  readonly causes: DenialCause[];
}

export function planLedger(given: LedgerPlanInput, requests: readonly LedgerRequest[]): LedgerPlan {
  const { ledger, policies, facts, now, epoch, without } = given;
  const draft = createDraft({ ...ledger, seq: ledger.seq + 1, epoch: Math.max(ledger.epoch, epoch) });
  draft.changed = draft.epoch > ledger.epoch;
  // With a wrong clock nothing expires: it would drop what still counts.
  const canExpire = isClockTrusted(facts.view.clockSkewSeconds);
  const hasExpired =
    canExpire && [expireEntries(draft, { policies, facts, now }), endRecovery(draft, now)].includes(true);
  const usage = createLedgerUsage({ policies, ledger: draft, facts, now });
  const input = { policies, ledger: draft, usage, facts, now, ...(without ? { without } : {}) };
  const batch: Batch = { draft, input, issued: 0, causes: [] };
  const answers = requests.map((request) => answer(batch, request, hasExpired));
  return { next: draft.changed ? finishDraft(draft) : undefined, answers, causes: batch.causes };
}

function endRecovery(draft: LedgerDraft, now: Date): boolean {
  if (!isRecovered(draft, now)) return false;
  draft.recovering = false;
  delete draft.recoveringSince;
  return true;
}

function answer(batch: Batch, request: LedgerRequest, hasExpired: boolean): LedgerAnswer {
  const { draft, input } = batch;
  if (request.kind === 'ask') return answerAsk(batch, request.ask, request.dryRun === true);
  if (request.kind === 'renew') {
    const renewal = renewGrant(draft, request.renewal, input);
    return renewal.permitted ? { kind: 'entry', ...renewal.found } : denied(batch, renewal.cause);
  }
  if (request.kind === 'settle') return settle(batch, request.settlement);
  if (request.kind === 'sweep') draft.changed ||= hasExpired;
  else return record(batch, request);
  return DONE;
}

function settle({ draft, input }: Batch, settlement: GrantSettlement): LedgerAnswer {
  const message = settlementProblem(draft, settlement);
  if (message !== undefined) return refused('AskInvalid', message);
  settleGrant(draft, settlement, input);
  return DONE;
}

function refused(reason: DenyReason, message: string): LedgerAnswer {
  return { kind: 'denial', denial: { granted: false, reason, message, also: [] } };
}

function answerAsk(batch: Batch, ask: GrantAsk, isDryRun: boolean): LedgerAnswer {
  const { draft, input } = batch;
  const found = repeatedGrant(draft, ask, input.now);
  const decision = decideAsk(input, found ? renewalAsk(found, ask) : ask);
  if (!decision.permitted) return denied(batch, decision);
  batch.causes.push(...decision.audit);
  if (isDryRun) return { kind: 'allowance', allowance: { granted: true, dryRun: true } };
  if (found) return { kind: 'entry', ...found };
  const machine = input.facts.machine(ask.machine);
  if (!machine) throw new Error(`a grant was permitted for machine ${ask.machine}, which is unknown`);
  const entry = issueGrant(draft, {
    ask,
    machine,
    policies: input.policies,
    now: input.now,
    index: batch.issued,
  });
  batch.issued += 1;
  input.usage.add(ask.machine, entry);
  return { kind: 'entry', machine: ask.machine, entry };
}

/** The grant that the same holder has already for this act: on the same Node, and of the same risk. */
function repeatedGrant({ grants }: LedgerDraft, ask: GrantAsk, now: Date): FoundGrant | undefined {
  const { machine, holder } = ask;
  const entry = Object.hasOwn(grants, machine) ? grants[machine] : undefined;
  if (!entry || !isInFlight(entry) || isLapsed(entry, now)) return undefined;
  return isSameAct(entry, ask) && isSameHolder(entry.holder, holder) ? { machine, entry } : undefined;
}

function isSameAct(a: RequestedAct, b: RequestedAct): boolean {
  return a.action === b.action && a.risk === b.risk && a.nodeUID === b.nodeUID;
}

type RequestedAct = Pick<LedgerGrant, 'action' | 'risk' | 'nodeUID'>;

type Change = Exclude<LedgerRequest, { kind: 'ask' | 'renew' | 'settle' | 'sweep' }>;

function record({ draft, input }: Batch, change: Change): LedgerAnswer {
  if (change.kind === 'reviewBreakers') {
    reviewBreakers(draft, input);
    return DONE;
  }
  if (change.kind === 'approval') return recordApproval(draft, change);
  draft.changed = true;
  if (change.kind === 'deleted') draft.gone[change.machine] ??= change.deleted;
  else recordClosure(draft, change);
  return DONE;
}

/** The first of two answers holds, except that an approval may be taken back. */
function recordApproval(
  draft: LedgerDraft,
  { machine, approval }: Extract<Change, { kind: 'approval' }>,
): LedgerAnswer {
  const message = answeredReason(draft.approvals[machine], approval);
  if (message !== undefined) return refused('ApprovalRefused', message);
  draft.approvals[machine] = approval;
  draft.changed = true;
  return DONE;
}

/** Bound of `closures`. */
const MAX_CLOSURES = 16;

function recordClosure(draft: LedgerDraft, { id, closure }: Extract<Change, { kind: 'closeBreaker' }>): void {
  closeBreaker(draft, id);
  const { [id]: _, ...others } = draft.closures ?? {};
  const latest = Object.entries(others).toSorted(([, a], [, b]) => Date.parse(b.at) - Date.parse(a.at));
  draft.closures = Object.fromEntries([[id, closure], ...latest.slice(0, MAX_CLOSURES - 1)]);
}

function denied({ causes }: Batch, decision: Extract<Decision, { permitted: false }>): LedgerAnswer {
  causes.push(decision, ...decision.also, ...decision.audit);
  const { reason, message, policy, key, used, limit, until, also, retryAt } = decision;
  const counted = { ...optional('key', key), ...optional('used', used), ...optional('limit', limit) };
  const ends = { ...optional('until', until), ...optional('retryAt', retryAt) };
  const denial = {
    granted: false,
    reason,
    message,
    ...optional('policy', policy),
    ...counted,
    ...ends,
    also,
  } as const;
  return { kind: 'denial', denial };
}
