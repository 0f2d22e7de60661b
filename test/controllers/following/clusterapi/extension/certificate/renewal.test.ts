import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  extensionRequest,
  planServingCertificate,
  type StoredCertificate,
} from '../../../../../../src/controllers/following/clusterapi/extension/certificate/renewal.ts';
import {
  type CertificatePair,
  createAuthority,
  issueCertificate,
} from '../../../../../../src/local/pki/certificate.ts';
import { NOW } from '../../../../../support/virtual-clock.ts';

const DAY_MS = 86_400_000;
const AUTHORITY = createAuthority('extension', NOW, 3650);
const PAIR = issueCertificate(AUTHORITY, extensionRequest(NOW));
const STORED = stored(AUTHORITY, PAIR);

function stored(authority: CertificatePair, pair: CertificatePair): StoredCertificate {
  return {
    authorities: authority.certPem,
    authorityKey: authority.keyPem,
    certificate: pair.certPem,
    key: pair.keyPem,
  };
}

function inDays(days: number): Date {
  return new Date(+NOW + days * DAY_MS);
}

describe('planServingCertificate', () => {
  const other = createAuthority('other', NOW, 3650);
  const foreign = issueCertificate(other, extensionRequest(NOW));
  const nameless = issueCertificate(AUTHORITY, { ...extensionRequest(NOW), names: [] });
  it.each<[name: string, StoredCertificate, days: number, decision: string]>([
    ['serves what is stored', STORED, 0, 'Serve'],
    ['serves it until its last month', STORED, 59, 'Serve'],
    ['renews it in its last month', STORED, 61, 'Issue: it expires on'],
    ['renews one that has ended', STORED, 100, 'Issue: it expired on'],
    ['makes an authority for an empty Secret', {}, 0, 'Replace: the Secret has no authority with its key'],
    [
      'makes an authority where its key is another',
      { ...STORED, authorityKey: PAIR.keyPem },
      0,
      'Replace: the Secret has no authority with its key',
    ],
    [
      'makes an authority where it cannot be read',
      { ...STORED, authorities: 'nothing' },
      0,
      'Replace: the Secret has no authority with its key',
    ],
    [
      'issues where the key is missing',
      { ...STORED, key: undefined },
      0,
      'Issue: the Secret has no certificate with its key',
    ],
    [
      'issues where another authority signed',
      stored(AUTHORITY, foreign),
      0,
      'Issue: it is signed by another CA',
    ],
    [
      'issues where the name of the Service is missing',
      stored(AUTHORITY, nameless),
      0,
      'Issue: names missing',
    ],
    [
      'makes an authority before its end',
      STORED,
      3561,
      'Replace: the authority ends before a new certificate would',
    ],
  ])('%s', (_, state, days, expected) => {
    const decision = planServingCertificate(state, inDays(days));
    const { type } = decision;
    expect('because' in decision ? `${type}: ${decision.because}` : type).toContain(expected);
  });

  it('keeps the earlier authority trusted while it is valid, and no longer', () => {
    expect(planServingCertificate(STORED, inDays(3561))).toMatchObject({ earlier: AUTHORITY.certPem });
    expect(planServingCertificate(STORED, inDays(3651))).not.toHaveProperty('earlier');
  });

  it('signs with the first of several authorities', () => {
    const both = { ...STORED, authorities: AUTHORITY.certPem + other.certPem };
    expect(planServingCertificate(both, NOW).type).toBe('Serve');
  });

  it('asks for the name by which Cluster API calls a Service', () => {
    const { subjectAltName } = new X509Certificate(PAIR.certPem);
    expect(subjectAltName).toBe('DNS:kubenode-update-extension.kubenode-system.svc');
  });
});
