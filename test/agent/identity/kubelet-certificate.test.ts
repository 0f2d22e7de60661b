import { describe, expect, it } from 'vitest';
import { nodeOfCertificate } from '../../../src/agent/identity/kubelet-certificate.ts';
import { issueClientCertificate } from '../../../src/local/pki/authority.ts';
import { createAuthority } from '../../../src/local/pki/certificate.ts';
import { NOW } from '../../support/virtual-clock.ts';

const authority = createAuthority('test', NOW, 1);

function pemOf(user: string): string {
  const { certPem, keyPem } = issueClientCertificate(authority, { user, groups: ['system:nodes'] }, NOW);
  return `${certPem}${keyPem}`;
}

describe('nodeOfCertificate', () => {
  it('returns the Node of the file of a kubelet, which has the key behind the certificate', () => {
    expect(nodeOfCertificate(pemOf('system:node:ip-10-0-0-1.ec2.internal'))).toBe('ip-10-0-0-1.ec2.internal');
  });

  it.each([
    ['a name of another', pemOf('anna')],
    ['a prefix without a name', pemOf('system:node:')],
    ['a key alone', authority.keyPem],
    ['other text', 'kind: Config'],
    ['an empty file', ''],
  ])('returns nothing for %s', (_, pem) => {
    expect(nodeOfCertificate(pem)).toBeUndefined();
  });
});
