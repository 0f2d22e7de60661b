import { describe, expect, it } from 'vitest';
import {
  describeNetworkError,
  isHandshakeError,
  type NetworkFault,
} from '../../../src/os/net/network-errors.ts';

describe('describeNetworkError', () => {
  it.each<[code: string, kind: NetworkFault['kind'], message: RegExp]>([
    ['ECONNREFUSED', 'unreachable', /^the connection was refused/],
    ['UND_ERR_SOCKET', 'unreachable', /^the connection was reset$/],
    ['ETIMEDOUT', 'timeout', /^no answer in time$/],
    ['UND_ERR_HEADERS_TIMEOUT', 'timeout', /^no answer in time$/],
    ['CERT_HAS_EXPIRED', 'certificate', /has expired/],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'certificate', /not trusted here/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'certificate', /for another name \(details\)/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'unreachable', /does not use TLS/],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'certificate', /rejected our client certificate/],
    ['EUNHEARD', 'unreachable', /^the exchange failed: details$/],
  ])('%s is %s', (code, kind, message) => {
    const fault = describeNetworkError(coded(code));
    expect(fault).toEqual({ kind, code, message: expect.stringMatching(message) as string });
  });

  it.each([
    [
      'several addresses were tried',
      new AggregateError([coded('ENETUNREACH'), coded('ETIMEDOUT')], 'all failed'),
    ],
    ['the error of the socket is wrapped', new Error('fetch failed', { cause: coded('ENETUNREACH') })],
  ])('reports the innermost code when %s', (_, error) => {
    expect(describeNetworkError(error)).toMatchObject({ code: 'ENETUNREACH' });
  });

  it.each([
    ['0A00010B', /does not use TLS/],
    ['0A000412', /rejected our client certificate/],
    ['0A000001', /^the exchange failed/],
  ])('reads OpenSSL number %s where Node reports only EPROTO', (number, message) => {
    const error = Object.assign(new Error(`write EPROTO C0:error:${number}:SSL routines`), {
      code: 'EPROTO',
    });
    expect(describeNetworkError(error).message).toMatch(message);
  });

  it('describes a value that is not an error', () => {
    expect(describeNetworkError('no')).toEqual({
      kind: 'unreachable',
      code: undefined,
      message: 'the exchange failed: no',
    });
  });
});

describe('isHandshakeError', () => {
  it.each([
    ['CERT_HAS_EXPIRED', true],
    ['ERR_SSL_WRONG_VERSION_NUMBER', true],
    ['EPROTO', true],
    ['ECONNREFUSED', false],
  ])('%s: %s', (code, expected) => {
    expect(isHandshakeError(coded(code))).toBe(expected);
  });
});

function coded(code: string): Error {
  return Object.assign(new Error('details'), { code });
}
