/** Plans one write of the ledger for a batch of requests: its next content, and the answer to each. Pure. */
import type { DefenderLedgerSpec, LedgerGrant } from '../../api/generated/types.ts';
import type { DenialCause, GrantAsk, GrantRenewal, GrantSettlement, RuleVersion } from '../../api/grants.ts';
import { isInFlight } from '../../api/grants.ts';
import { optional } from '../../kube/objects/optional.ts';
import { adoptAllowance } from '../allowance/adopt.ts';
import { reviewBreakers } from '../breakers/review.ts';
import { type Decision, type DecisionInput, decideAsk } from '../decide.ts';
import type { FleetFacts } from '../facts/facts.ts';
import { isClockTrusted } from '../guards/view/self-doubt.ts';
import type { PreparedPolicies } from '../policies/prepare.ts';
import { createDraft, finishDraft, type LedgerDraft } from './draft.ts';
import { grantOn, isLapsed, isSameHolder } from './entries.ts';
import { expireEntries } from './expire.ts';
import { issueGrant } from './issue.ts';
import { isRecovered } from './recover.ts';
import { renewalAsk, renewGrant } from './renew.ts';
import { DONE, type LedgerAnswer, type LedgerRequest } from './requests.ts';
import { type FoundGrant, settleGrant, settlementProblem } from './settle.ts';
import { recordChange, refused } from './upkeep/record.ts';
import { recordVersion, reviewRules } from './upkeep/rule-waves.ts';
import { createLedgerUsage } from './usage.ts';

export interface LedgerPlanInput {
  readonly ledger: DefenderLedgerSpec;
  readonly policies: PreparedPolicies;
  readonly facts: FleetFacts;
  readonly now: Date;
  readonly epoch: number;
  readonly without?: ReadonlySet<string>;
  /** Ids of grants whose acts live objects show in work. */
  readonly inWork?: ReadonlySet<string>;
}

export interface LedgerPlan {
  /** The next content of the ledger. Undefined: nothing to write. */
  readonly next: DefenderLedgerSpec | undefined;
  /** The answers in the order of the requests. */
  readonly answers: readonly LedgerAnswer[];
  /** The causes of all denials, and in mode Audit of what would have been denied. */
  readonly causes: readonly DenialCause[];
}

interface Batch {
  readonly draft: LedgerDraft;
  readonly input: DecisionInput;
  /** Whether the clock can be trusted. Otherwise nothing expires and nothing that has an end is written. */
  readonly isClockTrusted: boolean;
  readonly hasExpired: boolean;
  issued: number;
  readonly causes: DenialCause[];
}

export function planLedger(given: LedgerPlanInput, requests: readonly LedgerRequest[]): LedgerPlan {
  const { ledger, policies, facts, now, epoch, without, inWork } = given;
  const draft = createDraft({ ...ledger, seq: ledger.seq + 1, epoch: Math.max(ledger.epoch, epoch) });
  draft.changed = draft.epoch > ledger.epoch;
  // Before anything is decided, so that every decision keeps to the newest allowance.
  if (adoptAllowance(draft, facts.allowance, now)) draft.changed = true;
  const isTrusted = isClockTrusted(facts.view.clockSkewSeconds);
  const hasExpired =
    isTrusted &&
    [
      expireEntries(draft, { policies, facts, now, ...optional('inWork', inWork) }),
      endRecovery(draft, now),
      reviewRules(draft, { policies, facts, now }),
    ].includes(true);
  const usage = createLedgerUsage({ policies, ledger: draft, facts, now });
  const input = { policies, ledger: draft, usage, facts, now, ...(without ? { without } : {}) };
  const batch: Batch = { draft, input, isClockTrusted: isTrusted, hasExpired, issued: 0, causes: [] };
  const answers = requests.map((request) => answer(batch, request));
  return { next: draft.changed ? finishDraft(draft) : undefined, answers, causes: batch.causes };
}

function endRecovery(draft: LedgerDraft, now: Date): boolean {
  if (!isRecovered(draft, now)) return false;
  draft.recovering = false;
  delete draft.recoveringSince;
  return true;
}

function answer(batch: Batch, request: LedgerRequest): LedgerAnswer {
  const { draft, input } = batch;
  if (request.kind === 'ask') return answerAsk(batch, request.ask, request.dryRun === true);
  if (request.kind === 'renew') return renew(batch, request.renewal);
  if (request.kind === 'settle') return settle(batch, request.settlement);
  if (request.kind === 'sweep') {
    draft.changed ||= batch.hasExpired;
    return DONE;
  }
  if (request.kind === 'reviewBreakers') return review(batch);
  if (request.kind === 'rule') return announce(batch, request.version);
  return recordChange(draft, request, { ...batch, facts: input.facts });
}

/** Records nothing with a wrong clock: it is announced again, and its first ask records it. */
function announce({ draft, input, isClockTrusted: isTrusted }: Batch, version: RuleVersion): LedgerAnswer {
  if (isTrusted) recordVersion(draft, version, input);
  return DONE;
}

/** Reviews the breakers, but not with a wrong clock: cooldowns would be over too early or too late. Every ask is denied meanwhile. */
function review({ draft, input, isClockTrusted: isTrusted }: Batch): LedgerAnswer {
  if (isTrusted) reviewBreakers(draft, input);
  return DONE;
}

function renew(batch: Batch, renewal: GrantRenewal): LedgerAnswer {
  const decision = renewGrant(batch.draft, renewal, batch.input);
  return decision.permitted ? { kind: 'entry', ...decision.found } : denied(batch, decision.cause);
}

function settle({ draft, input }: Batch, settlement: GrantSettlement): LedgerAnswer {
  const message = settlementProblem(draft, settlement);
  if (message !== undefined) return refused('AskInvalid', message);
  settleGrant(draft, settlement, input);
  return DONE;
}

function answerAsk(batch: Batch, ask: GrantAsk, isDryRun: boolean): LedgerAnswer {
  const { draft, input } = batch;
  const found = repeatedGrant(draft, ask, input.now);
  const decision = decideAsk(input, found ? renewalAsk(found, ask) : ask);
  if (!decision.permitted) return denied(batch, decision);
  batch.causes.push(...decision.audit);
  if (isDryRun) return { kind: 'allowance', allowance: { granted: true, dryRun: true } };
  if (found) return { kind: 'entry', ...begun(draft, found, ask) };
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

/** Marks a grant as started. A holder that asks for it again as started cannot renew it: it would lapse while its act is in work. */
function begun(draft: LedgerDraft, found: FoundGrant, { started }: GrantAsk): FoundGrant {
  if (started !== true || found.entry.state !== 'Granted') return found;
  const entry: LedgerGrant = { ...found.entry, state: 'Started' };
  draft.grants[found.machine] = entry;
  draft.changed = true;
  return { ...found, entry };
}

/** Returns the grant that the same holder has already for this act: on the same Node, and of the same risk. */
function repeatedGrant({ grants }: LedgerDraft, ask: GrantAsk, now: Date): FoundGrant | undefined {
  const { machine, holder } = ask;
  const entry = grantOn(grants, machine);
  if (!entry || !isInFlight(entry) || isLapsed(entry, now)) return undefined;
  return isSameAct(entry, ask) && isSameHolder(entry.holder, holder) ? { machine, entry } : undefined;
}

function isSameAct(a: RequestedAct, b: RequestedAct): boolean {
  return a.action === b.action && a.risk === b.risk && a.nodeUID === b.nodeUID;
}

type RequestedAct = Pick<LedgerGrant, 'action' | 'risk' | 'nodeUID'>;

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
