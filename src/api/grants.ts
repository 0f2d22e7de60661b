/**
 * The Defender's port: controllers ask for permission before each disruptive act, renew it before each further step
 * and settle it when the act is over. Types and small derivations only; `src/defender` implements the port and
 * `src/cli` passes it to the controllers. No npm package here: the agent reads grants too.
 */
import type { DenyReason } from './deny-reasons.ts';
import type { FaultClass, Risk } from './enums.ts';
import type { DefenderLedgerSpec, LedgerGrant, LedgerHolder } from './generated/types.ts';
import type { Action } from './steps/steps.ts';

/** One request for permission to act on one machine. */
export interface GrantAsk {
  readonly holder: LedgerHolder;
  /** Name of the Machine, or `hostedControlPlaneKey(cluster)`. */
  readonly machine: string;
  /** UID of the Node that the asker observed; absent when the machine has no Node. */
  readonly nodeUID?: string;
  readonly action: Action;
  readonly risk: Risk;
  /** Asks of a rule only: rule waves start again with each digest. */
  readonly ruleDigest?: string;
  /** Asks of a rule only: quiet windows may exempt a fault class. */
  readonly faultClass?: FaultClass;
  /** When the facts behind the ask were observed. Facts older than 60 s are denied as `AskStale`. */
  readonly factsAt: Date;
  readonly expectedSeconds: number;
  /** Issue the grant as Started, for a holder that passes it on and cannot renew before the act. */
  readonly started?: boolean;
  /** Removes an act in flight; skips budgets, breakers and windows, but is still counted. */
  readonly recovery?: boolean;
}

declare const issuedByLedger: unique symbol;

/**
 * A recorded permission. Only the ledger creates one, so a function that takes a `Grant` cannot be called before the
 * ledger was written.
 */
export interface Grant {
  readonly granted: true;
  readonly id: string;
  /** `seq` of the ledger write that issued it. Executors refuse a fence lower than the highest one so far. */
  readonly fence: number;
  readonly machine: string;
  readonly action: Action;
  readonly risk: Risk;
  /** RFC 3339, copied unchanged into `spec.grant` of a job or component entry. */
  readonly issuedAt: string;
  /** RFC 3339: end of the permission. The grant still counts against limits until it is settled. */
  readonly notAfter: string;
  readonly [issuedByLedger]: true;
}

/** One check that failed. */
export interface DenialCause {
  readonly reason: DenyReason;
  /** For people: policy, key, used and limit in one sentence. */
  readonly message: string;
  readonly policy?: string;
  /** What is counted: `pool web`, `zone eu-1a`. */
  readonly key?: string;
  readonly used?: number;
  readonly limit?: number;
  /** When this cause ends, where time alone ends it. */
  readonly until?: Date;
}

/** A denial is an answer, not an error: ask again with fresh facts, at `retryAt` or when something changed. */
export interface Denial extends DenialCause {
  readonly granted: false;
  /** The other causes, in order of precedence. */
  readonly also: readonly DenialCause[];
  /** Absent when time alone does not change the answer. */
  readonly retryAt?: Date;
}

/** The answer to a dry run. It permits nothing. */
export interface Allowance {
  readonly granted: true;
  readonly dryRun: true;
}

export type GrantOutcome = NonNullable<LedgerGrant['outcome']>;

export interface GrantRenewal {
  readonly id: string;
  readonly fence: number;
  readonly recovery?: boolean;
  /** Of the rule: quiet windows may exempt it. The ledger does not keep it. */
  readonly faultClass?: FaultClass;
  /** Denied when the grant belongs to another holder: for callers that are not trusted. */
  readonly holder?: Pick<LedgerHolder, 'kind' | 'name'>;
}

export interface GrantSettlement {
  readonly id: string;
  readonly fence: number;
  readonly outcome: GrantOutcome;
  /** Denied when the grant belongs to another holder, or has a lower fence: for callers that are not trusted. */
  readonly holder?: Pick<LedgerHolder, 'kind' | 'name'>;
}

/** Each verb takes a list, because a batch costs one write. Answers have the order of the asks. */
export interface GrantPort {
  /** Asking again with the same holder, machine and action returns the grant that exists. */
  ask(asks: readonly GrantAsk[]): Promise<readonly (Grant | Denial)[]>;
  /** Decides as `ask` does and records nothing. */
  dryRun(asks: readonly GrantAsk[]): Promise<readonly (Allowance | Denial)[]>;
  /** Before each disruptive step: marks the grant Started, keeps its fence and repeats the checks that depend on time. */
  renew(renewals: readonly GrantRenewal[]): Promise<readonly (Grant | Denial)[]>;
  /** Ends the grant. Settling a grant that is settled or no longer in the ledger succeeds. */
  settle(settlements: readonly GrantSettlement[]): Promise<void>;
}

/** For the ledger alone: turns the entry that was written into the grant that its holder receives. */
export function grantFromEntry(machine: string, entry: LedgerGrant): Grant {
  const { id, fence, action, risk, issuedAt, notAfter } = entry;
  return { granted: true, id, fence, machine, action: action as Action, risk, issuedAt, notAfter } as Grant;
}

/** Key of a hosted control plane in the ledger, where machines have their names. */
export function hostedControlPlaneKey(cluster: string): string {
  return `cluster:${cluster}`;
}

/**
 * Whether this is the ledger that an installation creates. It has no history to rebuild, so the Defender takes it over at
 * once, provided that no live object carries a grant either. Otherwise the ledger was lost, and it recovers first.
 */
export function isNewLedger({ seq, epoch, grants }: DefenderLedgerSpec): boolean {
  return seq === 0 && epoch === 0 && Object.keys(grants).length === 0;
}

export function isInFlight({ state }: LedgerGrant): boolean {
  return state !== 'Settled';
}
