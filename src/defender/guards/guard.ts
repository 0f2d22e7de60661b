/**
 * A guard is one check of a decision. Every guard answers with all causes that it finds; none of them reads what another
 * one decided, so each can be taken out alone (`npm run sim -- --without`).
 */
import type { DenyReason } from '../../api/deny-reasons.ts';
import type { DefenderLedgerSpec, LedgerGrant } from '../../api/generated/types.ts';
import type { DenialCause, GrantAsk } from '../../api/grants.ts';
import type { FleetFacts, MachineFacts } from '../facts/facts.ts';
import { grantOn } from '../ledger/entries.ts';
import type { LedgerUsage } from '../ledger/usage.ts';
import type { PreparedPolicies, PreparedPolicy } from '../policies/prepare.ts';

/** Holds what all guards of one decision share. */
export interface GuardInput {
  /** `factsAt` is absent at a renewal: the facts of the Defender itself are used. */
  readonly ask: Omit<GrantAsk, 'factsAt'> & { readonly factsAt?: Date };
  readonly machine: MachineFacts;
  readonly policies: PreparedPolicies;
  readonly ledger: DefenderLedgerSpec;
  readonly usage: LedgerUsage;
  readonly facts: FleetFacts;
  readonly now: Date;
}

/** Shows that the guard is needed: without it this run of the simulator breaks the promise, and with all guards it breaks none. */
export interface GuardProof {
  /** The violation as src/sim/invariants.ts reports it. */
  readonly promise: string;
  readonly seed: number;
  /** The virtual days of the run. Default: 3. */
  readonly days?: number;
  /** Default: 60. */
  readonly machines?: number;
  /** Whether the rule of the run changes, and is enforced in waves. Default: false. */
  readonly hasNewRules?: boolean;
  /** Whether the run has several clusters under one hub. Default: false. */
  readonly isFleet?: boolean;
}

interface GuardRules {
  readonly id: string;
  /** Every reason that the guard gives. */
  readonly reasons: readonly [DenyReason, ...DenyReason[]];
  readonly proof: GuardProof;
  /** Whether the guard is skipped when an act in flight is taken back. */
  readonly skippedByRecovery: boolean;
  /** Whether the guard is checked again at each renewal: its answer depends on time, not on the grant itself. */
  readonly checkedAtRenewal: boolean;
}

export interface AskGuard extends GuardRules {
  readonly check: (input: GuardInput) => readonly DenialCause[];
}

/** A guard that is checked once for each policy that applies; `decide` adds the name of the policy. */
export interface PolicyGuard extends GuardRules {
  readonly checkPolicy: (input: GuardInput, policy: PreparedPolicy) => readonly DenialCause[];
}

export type Guard = AskGuard | PolicyGuard;

/** Returns the grant of this machine in the ledger. */
export function entryOf({ ledger, ask }: GuardInput): LedgerGrant | undefined {
  return grantOn(ledger.grants, ask.machine);
}

export function isRepair({ ask }: GuardInput): boolean {
  return ask.holder.kind === 'RemedyOperationJob' && ask.risk !== 'None';
}

export function secondsFrom(earlier: Date, later: Date): number {
  return Math.floor((+later - +earlier) / 1000);
}

export function after(moment: Date | string, seconds: number): Date {
  return new Date(+new Date(moment) + seconds * 1000);
}
