/** Defines credentials, and parses temporary ones, which the token service and the metadata service write with the same fields. Pure. */

import { textAt } from '../../../kube/objects/json.ts';
import type { Clock } from '../../../os/clock.ts';
import { ProviderError } from '../../contract.ts';

export interface AlibabaCredentials {
  readonly accessKeyId: string;
  /** A secret. */
  readonly accessKeySecret: string;
  /** A secret. Temporary credentials have one. */
  readonly securityToken?: string;
  /** Absent: they do not expire. */
  readonly expiresAt?: Date;
}

/** Ends by itself: a server of credentials is near, or does not exist. */
export interface LoadLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
}

/** The message never quotes the answer: it is secret. */
export function temporaryCredentials(value: unknown, from: string): AlibabaCredentials {
  const [accessKeyId, accessKeySecret] = [textAt(value, 'AccessKeyId'), textAt(value, 'AccessKeySecret')];
  const securityToken = textAt(value, 'SecurityToken');
  const expiresAt = new Date(textAt(value, 'Expiration') ?? '');
  if (!accessKeyId || !accessKeySecret || !securityToken || Number.isNaN(expiresAt.getTime())) {
    throw new ProviderError('Retryable', `the answer of ${from} has no credentials`, { reason: 'BadAnswer' });
  }
  return { accessKeyId, accessKeySecret, securityToken, expiresAt };
}
