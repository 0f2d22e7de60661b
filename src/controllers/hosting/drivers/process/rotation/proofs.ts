/** Asks each member with a client certificate of the former and of the new authority: what it trusts shows on the wire, and not in its files. */

import { readTrusted } from '../../../../../local/pki/authority.ts';
import { type CertificatePair, issueCertificate } from '../../../../../local/pki/certificate.ts';
import { ADMIN, clientRequest } from '../../../../../local/pki/leaves.ts';
import { sendProbe } from '../../../../../local/processes/probe.ts';
import { systemCode } from '../../../../../os/errors.ts';
import { isEtcdMember, type MemberReport } from '../../driver.ts';
import type { AuthorityAge, AuthorityProof, ProofResult } from '../../rotation.ts';
import type { PlaneFolder } from '../folder.ts';
import type { MemberSpec } from '../member-spec.ts';
import { keyFiles } from '../preparation/keys.ts';
import { readKeptAuthority } from './authorities.ts';

/** A certificate for one request. It is stored nowhere. */
const LIFE_SECONDS = 300;

type Authorities = Readonly<Record<AuthorityAge, CertificatePair | undefined>>;

export async function proveAuthorities(
  found: PlaneFolder,
  specs: readonly MemberSpec[],
  members: readonly MemberReport[],
  now: Date,
): Promise<readonly AuthorityProof[]> {
  const { layout, record } = found;
  if (!record) return [];
  const files = keyFiles(layout, record);
  const [etcd, cluster] = [await readBoth(files('etcd-ca')), await readBoth(files('ca'))];
  const { pkiFolder } = layout.cluster(record.cluster);
  const trusted = { etcd: await readTrusted(layout.etcd.pkiFolder), cluster: await readTrusted(pkiFolder) };
  const ready = specs.flatMap(({ member, secureUrl: url }) =>
    url !== undefined && members.some((each) => each.member === member && each.state === 'Ready')
      ? [{ member, url }]
      : [],
  );
  return await Promise.all(
    ready.map(async ({ member, url }) => {
      const isEtcd = isEtcdMember(member);
      const [authorities, caPem = ''] = isEtcd ? [etcd, trusted.etcd] : [cluster, trusted.cluster];
      const ask = (age: AuthorityAge): Promise<ProofResult> =>
        proofOf({ url, caPem, authority: authorities[age], now });
      return { member, old: await ask('old'), new: await ask('new') };
    }),
  );
}

async function readBoth(path: string): Promise<Authorities> {
  return { old: await readKeptAuthority(path, 'old'), new: await readKeptAuthority(path, 'new') };
}

interface ProofRequest {
  readonly url: string;
  readonly caPem: string;
  readonly authority: CertificatePair | undefined;
  readonly now: Date;
}

async function proofOf({ url, caPem, authority, now }: ProofRequest): Promise<ProofResult> {
  if (!authority) return 'Unknown';
  const client = issueCertificate(authority, clientRequest(ADMIN, { now, seconds: LIFE_SECONDS }));
  try {
    const { status } = await sendProbe({ url, caPem, client });
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
