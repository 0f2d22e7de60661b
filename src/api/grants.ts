/**
 * Defines the Defender's port: controllers ask for permission before each disruptive act, renew it before each further step and settle it
 * when the act is over. It contains types and small derivations only; `src/defender` implements the port and `src/cli` passes it to the
 * controllers. No npm package here: the agent reads grants too.
 */
import type { DenyReason } from './deny-reasons.ts';
import type { FaultClass, Risk } from './enums.ts';
import type { DefenderLedgerSpec, LedgerGrant, LedgerHolder } from './generated/types.ts';
import type { Action } from './steps/steps.ts';

/** One request for permission to act on one machine. */
export interface GrantAsk {
  readonly holder: LedgerHolder;
  /** The name of the Machine, `hostedControlPlaneKey(cluster)`, or `orphanInstanceKey(machineUid)`. */
  readonly machine: string;
  /** The UID of the Node that the asker observed; absent when the machine has no Node. */
  readonly nodeUID?: string;
  readonly action: Action;
  readonly risk: Risk;
  /** The digest of what the rule does, in asks of a rule only: rule waves start again with each digest. */
  readonly ruleDigest?: string;
  /** The fault class, in asks of a rule only: quiet windows may exempt it. */
  readonly faultClass?: FaultClass;
  /** The MachineComponents that the machine does not have yet; absent: the act installs nothing new. */
  readonly brings?: readonly string[];
  /** The time when the facts behind the ask were observed. Facts older than 60 s are denied as `AskStale`. */
  readonly factsAt: Date;
  readonly expectedSeconds: number;
  /** Whether to issue the grant as Started, for a holder that passes it on and cannot renew before the act. */
  readonly started?: boolean;
  /** Whether the act removes an act in flight; it skips budgets, breakers and windows, but is still counted. */
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
  /** The `seq` of the ledger write that issued it. Executors refuse a fence lower than the highest one so far. */
  readonly fence: number;
  readonly machine: string;
  readonly action: Action;
  readonly risk: Risk;
  /** The time of issue in RFC 3339, copied unchanged into `spec.grant` of a job or component entry. */
  readonly issuedAt: string;
  /** The end of the permission in RFC 3339. The grant still counts against limits until it is settled. */
  readonly notAfter: string;
  readonly [issuedByLedger]: true;
}

/** One check that failed. */
export interface DenialCause {
  readonly reason: DenyReason;
  /** The explanation for people: policy, key, used and limit in one sentence. */
  readonly message: string;
  readonly policy?: string;
  /** The key that is counted: `pool web`, `zone eu-1a`. */
  readonly key?: string;
  readonly used?: number;
  readonly limit?: number;
  /** The time when this cause ends, where time alone ends it. */
  readonly until?: Date;
}

/** A denial is an answer, not an error: ask again with fresh facts, at `retryAt` or when something changed. */
export interface Denial extends DenialCause {
  readonly granted: false;
  /** The other causes, in order of precedence. */
  readonly also: readonly DenialCause[];
  /** The time to ask again; absent when time alone does not change the answer. */
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
  /** The fault class of the rule: quiet windows may exempt it. The ledger does not keep it. */
  readonly faultClass?: FaultClass;
  /** The holder. The renewal is denied when the grant belongs to another one: for callers that are not trusted. */
  readonly holder?: Pick<LedgerHolder, 'kind' | 'name'>;
}

export interface GrantSettlement {
  readonly id: string;
  readonly fence: number;
  readonly outcome: GrantOutcome;
  /** Whether people took over: the act did what it had to, and has not healed the machine. */
  readonly handedOff?: boolean;
  /** The holder. The settlement is denied when the grant belongs to another one, or has a lower fence: for callers that are not trusted. */
  readonly holder?: Pick<LedgerHolder, 'kind' | 'name'>;
}

/** A version of a rule that may act from now on. */
export interface RuleVersion {
  readonly rule: string;
  /** The digest of what the rule does. */
  readonly digest: string;
}

/** Each verb takes a list, because a batch costs one write. Answers have the order of the asks. */
export interface GrantPort {
  /** Asks for grants. Asking again with the same holder, machine and action returns the grant that exists. */
  ask(asks: readonly GrantAsk[]): Promise<readonly (Grant | Denial)[]>;
  /** Decides as `ask` does and records nothing. */
  dryRun(asks: readonly GrantAsk[]): Promise<readonly (Allowance | Denial)[]>;
  /** Renews a grant before each disruptive step: marks it Started, keeps its fence and repeats the checks that depend on time. */
  renew(renewals: readonly GrantRenewal[]): Promise<readonly (Grant | Denial)[]>;
  /** Ends the grant. Settling a grant that is settled or no longer in the ledger succeeds. */
  settle(settlements: readonly GrantSettlement[]): Promise<void>;
  /** Records versions of rules when they appear. The first ask of a version does so, too, but it may be much later. */
  announceRules?(versions: readonly RuleVersion[]): Promise<void>;
}

/** Turns the entry that was written into the grant that its holder receives. Only the ledger may call it. */
export function grantFromEntry(machine: string, entry: LedgerGrant): Grant {
  const { id, fence, action, risk, issuedAt, notAfter } = entry;
  return { granted: true, id, fence, machine, action: action as Action, risk, issuedAt, notAfter } as Grant;
}

/** Returns the key of a hosted control plane in the ledger, where machines have their names. */
export function hostedControlPlaneKey(cluster: string): string {
  return `cluster:${cluster}`;
}

const ORPHAN_INSTANCE = /^instance:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Returns the key in the ledger of an instance whose Machine does not exist: by the UID of that Machine, which no other one gets. */
export function orphanInstanceKey(machineUid: string): string {
  return `instance:${machineUid}`;
}

export function isOrphanInstanceKey(key: string): boolean {
  return ORPHAN_INSTANCE.test(key);
}

/**
 * Tells whether this is the ledger that an installation creates. It has no history to rebuild, so the Defender takes it over at once,
 * provided that no live object carries a grant either. Otherwise the ledger was lost, and it recovers first.
 */
export function isNewLedger({ seq, epoch, grants }: DefenderLedgerSpec): boolean {
  return seq === 0 && epoch === 0 && Object.keys(grants).length === 0;
}

export function isInFlight({ state }: LedgerGrant): boolean {
  return state !== 'Settled';
}
