/** Explains why a step of an import failed, and whether it is repeated without a change. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { NAMESPACE } from '../../../api/names.ts';
import { isConditionReason } from '../../../kube/objects/conditions.ts';
import { messageOf, OsError } from '../../../os/errors.ts';
import type { Finding } from '../finding.ts';

export interface ImportFailure extends Pick<Finding, 'reason' | 'message' | 'blocker'> {
  /** Whether another attempt needs a change of the spec: to repeat it would do harm, or fail in the same way. */
  readonly isFinal: boolean;
}

/**
 * The codes of errors that only a person can solve. A server with another key must not be offered our key again and again, and hosts lock
 * accounts that are refused too often.
 */
const FINAL: readonly string[] = [
  'InvalidTarget',
  'HostKeyMismatch',
  'AuthRefused',
  'NoSudo',
  'SudoPassword',
  'HostInUse',
];

const AGAIN = 'Then change spec.import, or set spec.retryToken to a new value';
const FIRST_RETRY_MS = 5000;
const LAST_RETRY_MS = 300_000;

/** The reason while the Secret is missing, or does not permit its use. */
export const CREDENTIALS_MISSING = 'CredentialsMissing';
/** A Secret is read again this often: it may not be watched. */
const CREDENTIALS_MS = 15_000;

export function importFailure(error: unknown): ImportFailure {
  const { code, hint } = error instanceof OsError ? (error as OsError<string>) : {};
  const message = messageOf(error);
  const text = hint === undefined ? message : `${message}. ${capitalized(hint)}`;
  const reason = code !== undefined && isConditionReason(code) ? code : 'ImportFailed';
  return FINAL.includes(reason) ? finalFailure(reason, text) : { reason, message: text, isFinal: false };
}

export function finalFailure(reason: string, message: string, blocker?: Finding['blocker']): ImportFailure {
  return { reason, message: `${message}. ${AGAIN}`, isFinal: true, ...(blocker && { blocker }) };
}

/** Returns the failure of a Secret that is missing or refuses its use. The message has no value of it. */
export function credentialsFailure({ spec }: Machine, error: unknown): ImportFailure {
  const name = spec.import?.credentialsRef.name ?? '';
  const blocker = { kind: 'Secret', name, namespace: NAMESPACE };
  return { reason: CREDENTIALS_MISSING, message: messageOf(error), blocker, isFinal: false };
}

/** Returns how long after its n-th failure in a row a step is repeated. */
export function importRetryMs({ reason }: ImportFailure, failures: number): number {
  if (reason === CREDENTIALS_MISSING) return CREDENTIALS_MS;
  return Math.min(FIRST_RETRY_MS * 2 ** Math.max(0, failures - 1), LAST_RETRY_MS);
}

function capitalized(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
