/** Checks of what the certificate would be: key, extensions, usages and lifetime. Pure. */
import type { RequestedKey } from '../../os/x509/request.ts';
import type { Check } from './claim.ts';

const WEEK_SECONDS = 7 * 86_400;
const MIN_SECONDS = 600;
const MIN_RSA_BITS = 2048;
const CURVES = ['prime256v1', 'secp384r1', 'secp521r1'];
const USAGES = ['client auth', 'digital signature'];

export const contentChecks: readonly Check[] = [
  ({ request: { content } }) =>
    content?.signatureValid
      ? undefined
      : {
          reason: 'BadSignature',
          because: 'the request is not signed with the private key of its public key',
        },
  ({ request: { content } }) =>
    isStrong(content?.key)
      ? undefined
      : {
          reason: 'WeakKey',
          because: `expected a P-256, P-384, P-521 or RSA key of at least ${MIN_RSA_BITS} bits`,
        },
  ({ request: { content } }) =>
    content?.hasAttributes === false
      ? undefined
      : { reason: 'ExtensionsRequested', because: 'the request asks for extensions, and none are allowed' },
  ({ request: { usages, content } }) => {
    const expected = content?.key.type === 'rsa' ? [...USAGES, 'key encipherment'] : USAGES;
    const isExact = usages.length === expected.length && expected.every((usage) => usages.includes(usage));
    if (isExact) return undefined;
    return {
      reason: 'WrongUsages',
      because: `expected the usages ${expected.join(', ')}, got ${usages.join(', ')}`,
    };
  },
  ({ request: { expirationSeconds } }) => {
    const seconds = expirationSeconds ?? Number.POSITIVE_INFINITY;
    if (seconds >= MIN_SECONDS && seconds <= WEEK_SECONDS) return undefined;
    const got = expirationSeconds ?? 'none';
    const because = `expected expirationSeconds from ${MIN_SECONDS} to ${WEEK_SECONDS}, got ${got}`;
    return { reason: 'WrongLifetime', because };
  },
];

function isStrong(key: RequestedKey | undefined): boolean {
  if (key?.type === 'rsa') return (key.bits ?? 0) >= MIN_RSA_BITS;
  return key?.type === 'ec' && CURVES.includes(key.curve ?? '');
}
