/** Describes what the ledger is asked to do. A batch of requests costs one write. */
import type { LedgerApproval, LedgerClosure, LedgerGone, LedgerGrant } from '../../api/generated/types.ts';
import type {
  Allowance,
  Denial,
  GrantAsk,
  GrantRenewal,
  GrantSettlement,
  RuleVersion,
} from '../../api/grants.ts';

export type LedgerRequest =
  | { readonly kind: 'ask'; readonly ask: GrantAsk; readonly dryRun?: boolean }
  | { readonly kind: 'renew'; readonly renewal: GrantRenewal }
  | { readonly kind: 'settle'; readonly settlement: GrantSettlement }
  /** A version of a rule appeared. */
  | { readonly kind: 'rule'; readonly version: RuleVersion }
  /** Drops what has expired, and finishes a recovery. */
  | { readonly kind: 'sweep' }
  /** A machine was deleted. */
  | { readonly kind: 'deleted'; readonly machine: string; readonly deleted: LedgerGone }
  /** Opens and half-opens breakers by what is observed. */
  | { readonly kind: 'reviewBreakers' }
  /** A person closes a breaker. */
  | { readonly kind: 'closeBreaker'; readonly id: string; readonly closure: LedgerClosure }
  | { readonly kind: 'approval'; readonly machine: string; readonly approval: LedgerApproval };

/** An answer to a request. An entry becomes a grant when the write that holds it succeeded. */
export type LedgerAnswer =
  | { readonly kind: 'entry'; readonly machine: string; readonly entry: LedgerGrant }
  | { readonly kind: 'denial'; readonly denial: Denial }
  | { readonly kind: 'allowance'; readonly allowance: Allowance }
  | { readonly kind: 'done' };

export const DONE: LedgerAnswer = { kind: 'done' };
