/**
 * Seals the sign-ins that have begun at an issuer in the cookie of the browser that began them, for ten minutes. The console keeps nothing of
 * them: anyone may begin one, and thousands of them must not push out that of a person. The issuer completes each once.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { isRecord } from '../../../kube/objects/json.ts';
import type { Clock } from '../../../os/clock.ts';
import type { SignInChecks } from './issuer.ts';

export const PENDING_SECONDS = 600;
const CIPHER = 'aes-256-gcm';
const [KEY_BYTES, NONCE_BYTES, TAG_BYTES] = [32, 12, 16];

export interface PendingSignIns {
  /** Returns the value for the cookie of the browser. */
  seal(checks: SignInChecks): string;
  /** Undefined: it is not a value of this process, or too old. */
  read(value: string | undefined): SignInChecks | undefined;
}

export function createPendingSignIns(clock: Pick<Clock, 'monotonicMs'>): PendingSignIns {
  const key = randomBytes(KEY_BYTES);
  return {
    seal(checks) {
      const endsMs = clock.monotonicMs() + PENDING_SECONDS * 1000;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
      const sealed = Buffer.concat([
        cipher.update(JSON.stringify({ ...checks, endsMs }), 'utf8'),
        cipher.final(),
      ]);
      return Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
    },
    read(value) {
      const opened = value === undefined ? undefined : open(key, Buffer.from(value, 'base64url'));
      if (!isRecord(opened)) return undefined;
      const { state, nonce, verifier, endsMs } = opened as unknown as SignInChecks & {
        readonly endsMs: number;
      };
      return clock.monotonicMs() < endsMs ? { state, nonce, verifier } : undefined;
    },
  };
}

function open(key: Buffer, value: Buffer): unknown {
  try {
    const decipher = createDecipheriv(CIPHER, key, value.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAuthTag(value.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    const text = Buffer.concat([decipher.update(value.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()]);
    return JSON.parse(text.toString('utf8')) as unknown;
  } catch {
    return undefined;
  }
}
