/** When the bootstrap token of a Machine is deleted: after its first use, when it was misused, and at its end. Pure. */
import type { BootstrapTokenRecord } from '../../api/secrets/bootstrap-token.ts';

/** A request that was made with the token. */
export interface TokenUse {
  readonly name: string;
  readonly decision: 'Pending' | 'Approved' | 'Denied';
  readonly decidedAt: Date | undefined;
  readonly issued: boolean;
}

export interface TokenInput {
  readonly record: BootstrapTokenRecord;
  /** Those that are still there. */
  readonly uses: readonly TokenUse[];
  /** When the agent last renewed its Lease. */
  readonly heartbeatAt: Date | undefined;
  readonly now: Date;
}

export type TokenPlan =
  | { readonly type: 'Delete'; readonly used: boolean; readonly because: string }
  | { readonly type: 'Keep'; readonly because: string; readonly until?: Date };

/** The host reads its certificate with the token. This long after the certificate was issued it has it, or needs another token. */
const DELIVERY_MS = 60_000;

export function planToken({ record, uses, heartbeatAt, now }: TokenInput): TokenPlan {
  const expiresAt = new Date(record.expiresAt);
  if (record.secretUid === undefined) return { type: 'Keep', because: 'its token is deleted' };
  // Also of a date that cannot be read.
  if (!(now < expiresAt)) return { type: 'Delete', used: false, because: 'the token expired' };
  const denied = uses.find(({ decision }) => decision === 'Denied');
  if (denied) {
    return { type: 'Delete', used: false, because: `request ${denied.name} with the token was denied` };
  }
  const issued = uses.find(({ decision, issued: is }) => decision === 'Approved' && is);
  if (!issued) return { type: 'Keep', because: 'the token was not used yet', until: expiresAt };
  return afterUse(issued, { heartbeatAt, now, expiresAt });
}

function afterUse(
  { name, decidedAt }: TokenUse,
  { heartbeatAt, now, expiresAt }: Pick<TokenInput, 'heartbeatAt' | 'now'> & { readonly expiresAt: Date },
): TokenPlan {
  const approvedMs = decidedAt?.getTime() ?? 0;
  if ((heartbeatAt?.getTime() ?? 0) > approvedMs) {
    return { type: 'Delete', used: true, because: `the agent uses the certificate of request ${name}` };
  }
  const until = new Date(Math.min(approvedMs + DELIVERY_MS, expiresAt.getTime()));
  if (now < until) {
    return { type: 'Keep', because: `the host reads the certificate of request ${name}`, until };
  }
  return {
    type: 'Delete',
    used: true,
    because: `the certificate of request ${name} was issued a minute ago`,
  };
}
