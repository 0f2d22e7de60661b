import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { cutOffError, networkError } from '../../../src/kube/transport/network-errors.ts';

describe('networkError', () => {
  it.each([
    ['ETIMEDOUT', 'Timeout', 'no answer in time'],
    ['ECONNREFUSED', 'Unreachable', 'the connection was refused: nothing listens there'],
    [
      'ERR_TLS_CERT_ALTNAME_INVALID',
      'Unreachable',
      "the server's certificate is for another name (x): use a name that it holds, or set tls-server-name",
    ],
  ])('of %s is %s', (code, expected, message) => {
    const error = Object.assign(new Error('x'), { code });
    expect(networkError(error)).toMatchObject({ code: expected, message, reason: code, cause: error });
  });

  it('returns a KubeError unchanged', () => {
    const error = new KubeError('Aborted', 'x');
    expect(networkError(error)).toBe(error);
  });
});

describe('cutOffError', () => {
  it('keeps the code of the network error as its reason', () => {
    expect(cutOffError(Object.assign(new Error('x'), { code: 'EPIPE' }))).toMatchObject({
      code: 'Unreachable',
      reason: 'EPIPE',
    });
  });
});
