/** Defines the phases in which the authorities of a control plane are rotated, and what a driver reports about them. */

import type { SignedAuthorities } from '../../../api/authorities/document.ts';

/**
 * In `TrustBoth` the former authorities issue and both are trusted, in `IssueNew` the new ones issue to clients, in `ServeNew` also to the API
 * server, which clients with a copy of the former kubeconfig do not trust, and in `TrustNew` only the new ones are trusted. A rotation is taken
 * back through `TrustBoth` and `TrustOld`.
 */
export const ROTATION_PHASES = [
  'TrustBoth',
  'IssueNew',
  'ServeNew',
  'TrustNew',
  'TrustOld',
  'Completed',
] as const;
export type RotationPhase = (typeof ROTATION_PHASES)[number];

export interface RotationStep {
  readonly id: string;
  readonly phase: RotationPhase | 'Aborted';
}

export type AuthorityAge = 'old' | 'new';

export interface PhaseAuthorities {
  readonly issues: AuthorityAge;
  /** Which one signed the certificate that the API server and the managers serve. */
  readonly serves: AuthorityAge;
  readonly trusts: readonly AuthorityAge[];
  /**
   * Which one signs what agents follow: the former one as long as it is trusted. A host that trusts only the new one then takes no document of a
   * phase before, also without its record of what it followed.
   */
  readonly signs: AuthorityAge;
}

export const PHASE_AUTHORITIES: Readonly<Record<RotationPhase, PhaseAuthorities>> = {
  TrustBoth: { issues: 'old', serves: 'old', trusts: ['old', 'new'], signs: 'old' },
  IssueNew: { issues: 'new', serves: 'old', trusts: ['new', 'old'], signs: 'old' },
  ServeNew: { issues: 'new', serves: 'new', trusts: ['new', 'old'], signs: 'old' },
  TrustNew: { issues: 'new', serves: 'new', trusts: ['new'], signs: 'new' },
  TrustOld: { issues: 'old', serves: 'old', trusts: ['old'], signs: 'old' },
  Completed: { issues: 'new', serves: 'new', trusts: ['new'], signs: 'new' },
};

export interface RotationReport {
  readonly id: string;
  readonly phase: RotationPhase;
  /** Counts the phases: a rotation that is taken back is in one of them twice. */
  readonly sequence?: number | undefined;
  /** Whether the files are those of the phase. */
  readonly isApplied: boolean;
  /** Whether the end was begun, and interrupted. */
  readonly isEnding: boolean;
  /** Whether the new authorities ever issued a certificate. */
  readonly hasIssued: boolean;
  /** Whether the document of this phase is signed for the agents. */
  readonly isSigned: boolean;
  /** When the document of this phase was signed: every member was in it by then. Undefined: it was not. */
  readonly signedAt?: Date | undefined;
  /** The members that were not started since the files are those of the phase. */
  readonly behind: readonly string[];
  /** How each member that answers responds to a client certificate of either authority. */
  readonly proofs: readonly AuthorityProof[];
  /** The ID of the key that signs tokens of ServiceAccounts, as tokens have it. */
  readonly tokenKeyId?: string | undefined;
}

export interface AuthorityProof {
  readonly member: string;
  readonly old: ProofResult;
  readonly new: ProofResult;
}

/** `Unknown`: it did not answer. `Missing`: the authority is lost, so that nothing can be asked with it. */
export type ProofResult = 'Accepted' | 'Refused' | 'Unknown' | 'Missing';

/** Holds what is known of documents beside the record of the driver. Nothing of it is trusted: others may write it. */
export interface KnownOrders {
  readonly published?: SignedAuthorities | undefined;
  /** The orders that agents report. */
  readonly reported: readonly number[];
  /** The phase that was observed, whose members were proven: no other one is signed. Absent: the one that is recorded is signed. */
  readonly observed?: ObservedRotation | undefined;
}

export interface ObservedRotation {
  readonly rotation: Pick<RotationReport, 'id' | 'phase' | 'sequence'> | undefined;
}

export function isRotationOver({ phase }: Pick<RotationReport, 'phase'>): boolean {
  return phase === 'Completed';
}
