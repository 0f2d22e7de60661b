import { describe, expect, it } from 'vitest';
import { certificatesStatus, certificatesValid } from '../../../src/controllers/hosting/certificates.ts';
import type { MemberCertificate } from '../../../src/controllers/hosting/drivers/driver.ts';
import {
  certificates,
  daysFromNow,
  hostingInput,
  type InputParts,
  members,
  NOTHING,
  planeReport,
} from '../../support/hosting/objects.ts';

function text(parts: InputParts): string {
  const { status, reason, message } = certificatesValid(hostingInput(parts));
  return `${status} ${reason}: ${message}`;
}

function served(parts: Partial<MemberCertificate>): InputParts {
  const certificate = { serial: 'A1', expectedSerial: 'A1', notAfter: daysFromNow(90), ...parts };
  return { plane: { members: members({ etcd: { certificate } }) } };
}

function authorityEnds(days: number): InputParts {
  return { plane: { certificates: certificates({ ca: { notAfter: daysFromNow(days) } }) } };
}

describe('the condition CertificatesValid', () => {
  it.each<readonly [string, InputParts, RegExp]>([
    ['all are served', {}, /^True SeenOnTheWire: a client sees the certificates of 4 members$/],
    [
      'two members are down',
      {
        plane: {
          members: members({
            etcd: { certificate: undefined },
            'kube-scheduler': { certificate: undefined },
          }),
        },
      },
      /^True SeenOnTheWire: .* 2 members; 2 do not answer$/,
    ],
    ['no member answers', { plane: NOTHING }, /^Unknown NotServed: no member serves a certificate$/],
    [
      'the file is newer',
      served({ expectedSerial: 'B2' }),
      /^False OldCertificateServed: etcd does not serve/,
    ],
    ['the file cannot be read', served({ expectedSerial: undefined }), /^False OldCertificateServed: etcd/],
    [
      'a served one ended',
      served({ notAfter: daysFromNow(0) }),
      /^False Expired: the certificate of etcd ended at/,
    ],
    [
      'one that no member serves ended',
      { plane: { certificates: certificates({ sync: { notAfter: daysFromNow(-1) } }) } },
      /^False Expired: the certificate of sync ended at/,
    ],
    [
      'a CA ended',
      { plane: { certificates: certificates({ ca: { notAfter: daysFromNow(-1) } }) } },
      /^False Expired: the certificate of ca ended at/,
    ],
    [
      'one is due',
      { plane: { certificates: certificates({ sync: { due: 'it is damaged' } }) } },
      /^False RenewalDue: the certificate sync is to be renewed: it is damaged$/,
    ],
  ])('HOS-21 reports what is served when %s', (_, parts, expected) => {
    expect(text(parts)).toMatch(expected);
  });

  it('HOS-23 names a CA that ends within 30 days, and not one that ends later', () => {
    expect(text(authorityEnds(30))).toMatch(
      /^True AuthorityEndsSoon: .*; ca ends at .* rotate it before by spec\.hosted\.pki\.caRotation$/,
    );
    expect(text(authorityEnds(30.1))).toMatch(/^True SeenOnTheWire/);
  });
});

describe('the certificates in the status', () => {
  it('HOS-23 are those that members serve, and those in files, with their ends', () => {
    expect(
      certificatesStatus(planeReport()).map((each) => `${each.name} ${each.serial} ${each.renewAt}`),
    ).toEqual([
      'etcd A1 2030-09-12T12:00:00Z',
      'kube-apiserver A1 2030-09-12T12:00:00Z',
      'kube-controller-manager A1 2030-09-12T12:00:00Z',
      'kube-scheduler A1 2030-09-12T12:00:00Z',
      'sync undefined 2030-09-12T12:00:00Z',
      'ca undefined undefined',
    ]);
  });

  it('HOS-23 have no end where it cannot be read', () => {
    const damaged = certificates({ sync: { notAfter: undefined, renewAt: undefined, due: 'it is damaged' } });
    const found = certificatesStatus(planeReport({ certificates: damaged }));
    expect(found.find(({ name }) => name === 'sync')).toEqual({ name: 'sync' });
  });
});
