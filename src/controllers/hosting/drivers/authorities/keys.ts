/** The keys of a control plane while others take over: what they are called, made of, and derived from. Pure. */
import { createHash } from 'node:crypto';
import { AUTHORITY_DAYS, concatPem } from '../../../../local/pki/authority.ts';
import {
  type CertificatePair,
  createAuthority,
  createServiceAccountKey,
} from '../../../../local/pki/certificate.ts';
import { type AuthorityName, FORMER_AUTHORITY } from '../../../../local/pki/leaves.ts';
import { keyDigestOf } from '../../../../local/pki/report.ts';
import type { KeyName } from '../keys.ts';
import { type AuthorityAge, PHASE_AUTHORITIES, type RotationPhase } from '../rotation.ts';
import type { RotationState } from './record.ts';

/** The former and the new authority. */
export type KeptAuthorities = Readonly<Record<AuthorityAge, CertificatePair | undefined>>;

/** Returns the file that keeps the former or the new key until the rotation is over: `ca.new.pem` for `ca.pem`. */
export function keptName(file: string, age: AuthorityAge): string {
  return file.replace(/\.(pem|key)$/, `.${age}.$1`);
}

export function newKey(
  name: KeyName,
  current: string,
  { id, now }: { readonly id: string; readonly now: Date },
): string {
  if (name === 'service-accounts') return createServiceAccountKey();
  // The name tells people apart which authority signed. It has at most 64 characters, and the ID may have as many.
  const suffix = createHash('sha256').update(`${id} ${current}`).digest('hex').slice(0, 8);
  return concatPem(createAuthority(`kubenode ${name} ${suffix}`, now, AUTHORITY_DAYS));
}

/** Returns which of both keys issues in the phase, and which one is trusted beside it. */
export function phaseKeys(phase: RotationPhase): {
  readonly issuing: AuthorityAge;
  readonly beside: AuthorityAge | undefined;
} {
  const { issues, trusts } = PHASE_AUTHORITIES[phase];
  return { issuing: issues, beside: trusts.find((age) => age !== issues) };
}

const TOKEN_KEY = /-----BEGIN (?:EC )?PRIVATE KEY-----[^-]+-----END (?:EC )?PRIVATE KEY-----\n?/g;

/** Returns each of the keys in a file of keys that sign tokens: the first one signs. */
export function tokenKeys(text: string): readonly string[] {
  return text.match(TOKEN_KEY) ?? [];
}

/**
 * Returns the first of these texts that has the recorded key. Somebody may have damaged or replaced a kept file while the file that members read
 * still has the key: nothing but the recorded one is used, and what has it is not overwritten.
 */
export function findKey(
  name: KeyName,
  texts: readonly (string | undefined)[],
  digest: string | undefined,
): string | undefined {
  if (digest === undefined) return undefined;
  const found = texts.flatMap((text = '') => (name === 'service-accounts' ? tokenKeys(text) : [text]));
  return found.find((text) => keyDigestOf(text) === digest);
}

/** Returns which keys nothing works without. What never issued anything is not needed to take a rotation back. */
export function neededAges({
  phase,
  hasIssued,
}: Pick<RotationState, 'phase' | 'hasIssued'>): readonly AuthorityAge[] {
  return phase === 'TrustBoth' && !hasIssued ? ['old'] : PHASE_AUTHORITIES[phase].trusts;
}

/** Returns the problems of keys that never issued anything. */
export function unusedIn(
  lost: readonly string[],
  needed: readonly string[],
): { readonly lostUnused?: readonly string[] } {
  const lostUnused = lost.filter((problem) => !needed.includes(problem));
  return lostUnused.length === 0 ? {} : { lostUnused };
}

/** Returns the file that members read. The API server accepts the tokens of every key in its file, and signs with the first. */
export function keyContent(name: KeyName, issuing: string, beside = ''): string {
  return name === 'service-accounts' ? issuing + beside : issuing;
}

/** Returns the authority of the certificate that the API server serves: the former one is kept in a file of its own. */
export function serverAuthority({ phase, keys }: Pick<RotationState, 'phase' | 'keys'>): AuthorityName {
  const { issues, serves } = PHASE_AUTHORITIES[phase];
  return keys && issues !== serves ? FORMER_AUTHORITY : 'ca';
}
