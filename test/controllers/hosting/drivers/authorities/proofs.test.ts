import { describe, expect, it } from 'vitest';
import { isCertificateRefusal } from '../../../../../src/controllers/hosting/drivers/authorities/proofs.ts';

describe('the answer of a member to a client certificate', () => {
  it.each<[code: string | undefined, isRefused: boolean]>([
    ['ERR_SSL_TLSV1_ALERT_UNKNOWN_CA', true],
    ['ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE', true],
    ['ERR_SSL_SSL/TLS_ALERT_BAD_CERTIFICATE', true],
    ['ECONNREFUSED', false],
    ['ECONNRESET', false],
    [undefined, false],
  ])('HOS-22 is a refusal only when the member itself refuses it: %s', (code, isRefused) => {
    expect(isCertificateRefusal(code)).toBe(isRefused);
  });
});
