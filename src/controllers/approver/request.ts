/** A certificate request as the approver judges it. */
import type { ParsedRequest } from '../../os/x509/request.ts';

export interface AgentRequest {
  readonly name: string;
  readonly signer: string;
  /** Who created it, as the API server authenticated them. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly createdAt: Date;
  /** The UID that its annotation names. Only a token proves one. */
  readonly machineUid: string | undefined;
  readonly state: 'Pending' | 'Approved' | 'Denied';
  readonly approvedAt: Date | undefined;
  /** Undefined when it cannot be parsed. */
  readonly content: ParsedRequest | undefined;
}

/** Why a request is not approved. With `until` it may still be, and is judged again then. */
export interface Objection {
  readonly reason: string;
  readonly because: string;
  readonly until?: Date;
}
