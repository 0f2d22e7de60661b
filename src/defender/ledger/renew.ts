/** A renewal: the checks that depend on time, once more, before the next disruptive step. Pure. */
import type { DenialCause, GrantRenewal } from '../../api/grants.ts';
import { isInFlight } from '../../api/grants.ts';
import type { Action } from '../../api/steps/steps.ts';
import { type Decision, type DecisionInput, decideAsk } from '../decide.ts';
import { appliesTo } from '../policies/matches.ts';
import type { PreparedPolicy } from '../policies/prepare.ts';
import type { LedgerDraft } from './draft.ts';
import { isLapsed, isSameHolder } from './entries.ts';
import { claimProbes, endOfGrant } from './issue.ts';
import { type FoundGrant, findGrant } from './settle.ts';

export type RenewalDecision =
  | { readonly permitted: true; readonly found: FoundGrant }
  | { readonly permitted: false; readonly cause: Extract<Decision, { readonly permitted: false }> };

export function renewGrant(draft: LedgerDraft, renewal: GrantRenewal, input: DecisionInput): RenewalDecision {
  const found = findGrant(draft, renewal.id);
  const problem = renewalProblem(found, renewal, input.now);
  if (!found || problem !== undefined) {
    const cause: DenialCause = { reason: 'AskInvalid', message: problem ?? '' };
    return { permitted: false, cause: { permitted: false, ...cause, also: [], audit: [] } };
  }
  const decision = decideAsk(input, renewalAsk(found, renewal));
  if (!decision.permitted) return { permitted: false, cause: decision };
  const machine = input.facts.machine(found.machine);
  const applying = machine
    ? input.policies.valid.filter((policy) => appliesTo(policy, found.entry, machine))
    : [];
  const entry = { ...found.entry, ...renewed(found, applying, input.now) };
  // An act that was in work before the breaker opened goes on only as its probe.
  if (machine && renewal.recovery !== true) claimProbes(draft, applying, { ask: found.entry, machine });
  draft.grants[found.machine] = entry;
  draft.changed = true;
  return { permitted: true, found: { machine: found.machine, entry } };
}

/** Decides for a grant that exists as for one that is renewed. */
export function renewalAsk(
  { machine, entry }: FoundGrant,
  { recovery, faultClass }: Pick<GrantRenewal, 'recovery' | 'faultClass'>,
): Parameters<typeof decideAsk>[1] {
  const { holder, action, risk, nodeUID } = entry;
  return {
    holder,
    machine,
    action: action as Action,
    risk,
    expectedSeconds: 0,
    isRenewal: true,
    ...(nodeUID === undefined ? {} : { nodeUID }),
    ...(recovery === undefined ? {} : { recovery }),
    ...(faultClass === undefined ? {} : { faultClass }),
  };
}

function renewalProblem(
  found: FoundGrant | undefined,
  { id, fence, holder }: GrantRenewal,
  now: Date,
): string | undefined {
  if (!found) return `grant ${id} is not in the ledger: ask again`;
  const { entry } = found;
  if (holder && !isSameHolder(entry.holder, holder)) return `grant ${id} belongs to another holder`;
  if (!isInFlight(entry)) return `grant ${id} is settled: ask again`;
  if (isLapsed(entry, now)) return `grant ${id} ended at ${entry.notAfter} before it was used: ask again`;
  return entry.fence === fence ? undefined : `grant ${id} has fence ${entry.fence}, not ${fence}`;
}

function renewed({ entry }: FoundGrant, applying: readonly PreparedPolicy[], now: Date): object {
  const end = endOfGrant(applying, now);
  const notAfter = Date.parse(end) > Date.parse(entry.notAfter) ? end : entry.notAfter;
  return { state: 'Started', renewedAt: now.toISOString(), notAfter };
}
