/**
 * Reads and writes the record of a bootstrap token on its Machine: everything but the secret. The account that makes tokens cannot read
 * Secrets in kube-system, so that it needs the UID to delete one; and the approver accepts no token but the newest one of a Machine.
 */
import { isRecord } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { ANNOTATION_BOOTSTRAP_TOKEN } from '../names.ts';

export interface BootstrapTokenRecord {
  /** The id, the public half of the token. */
  readonly id: string;
  /** The UID of the Secret; undefined once it is deleted. */
  readonly secretUid?: string;
  readonly expiresAt: string;
  /** The value of `spec.agentEpoch` when the token was made. */
  readonly epoch: number;
  /**
   * Whether the epoch was raised for this token: a person stated that the agent before it does not run any more, even if it seems alive.
   */
  readonly replacesAgent: boolean;
}

/** The lifetime of a token in seconds. No agent needs longer to join; the server removes what is left over then. */
export const BOOTSTRAP_TOKEN_SECONDS = 900;

export function formatTokenRecord(record: BootstrapTokenRecord): string {
  const { id, secretUid, expiresAt, epoch, replacesAgent } = record;
  return JSON.stringify({ id, secretUid, expiresAt, epoch, replacesAgent });
}

/** Returns the record; undefined without one, and for one that is damaged: no token is accepted then. */
export function tokenRecordOf({ metadata }: Pick<KubeObject, 'metadata'>): BootstrapTokenRecord | undefined {
  const text = metadata.annotations?.[ANNOTATION_BOOTSTRAP_TOKEN];
  if (text === undefined) return undefined;
  const found = parseJson(text);
  return isTokenRecord(found) ? found : undefined;
}

function isTokenRecord(value: unknown): value is BootstrapTokenRecord {
  if (!isRecord(value)) return false;
  const { id, secretUid = '', expiresAt, epoch, replacesAgent } = value;
  const texts = [id, secretUid, expiresAt].every((each) => typeof each === 'string');
  return texts && typeof epoch === 'number' && typeof replacesAgent === 'boolean';
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
