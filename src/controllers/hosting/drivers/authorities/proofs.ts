/** Asks each member with a client certificate of the former and of the new authority: what it trusts shows on the wire, and not in its files. */

import { issueCertificate } from '../../../../local/pki/certificate.ts';
import { ADMIN, clientRequest } from '../../../../local/pki/leaves.ts';
import { type ProbeEndpoint, sendProbe } from '../../../../local/processes/probe.ts';
import { systemCode } from '../../../../os/errors.ts';
import type { PlaneMember } from '../driver.ts';
import type { AuthorityAge, AuthorityProof, ProofResult } from '../rotation.ts';
import type { KeptAuthorities } from './keys.ts';

/** A certificate for one request. It is stored nowhere. */
const LIFE_SECONDS = 300;

/** Where a member answers clients with a certificate, and the authorities of those. */
export interface ProofPlace extends Omit<ProbeEndpoint, 'client'> {
  readonly member: PlaneMember;
  readonly authorities: KeptAuthorities;
}

export type AuthorityProver = (
  places: readonly ProofPlace[],
  now: Date,
) => Promise<readonly AuthorityProof[]>;

export const proveAuthorities: AuthorityProver = async (places, now) =>
  await Promise.all(
    places.map(async (place) => {
      const old = await proofOf(place, 'old', now);
      return { member: place.member, old, new: await proofOf(place, 'new', now) };
    }),
  );

async function proofOf(place: ProofPlace, age: AuthorityAge, now: Date): Promise<ProofResult> {
  const authority = place.authorities[age];
  if (!authority) return 'Missing';
  const client = issueCertificate(authority, clientRequest(ADMIN, { now, seconds: LIFE_SECONDS }));
  try {
    const { status } = await sendProbe({ ...place, client });
    if (status === 401) return 'Refused';
    return status === 200 ? 'Accepted' : 'Unknown';
  } catch (error) {
    return isCertificateRefusal(systemCode(error)) ? 'Refused' : 'Unknown';
  }
}

/** The server ends the connection with an alert about the certificate. A connection that fails otherwise tells nothing. */
export function isCertificateRefusal(code: string | undefined): boolean {
  return (
    code !== undefined &&
    /ALERT_(?:BAD_CERTIFICATE|UNKNOWN_CA|CERTIFICATE_UNKNOWN)|TLSV1_ALERT|SSLV3_ALERT/.test(code)
  );
}
