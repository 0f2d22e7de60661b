import { describe, expect, it } from 'vitest';
import { canonicalQuery, canonicalRequest, signRequest } from '../../../../src/providers/alibaba/api/sign.ts';

/**
 * The example of "Request syntax and signature method V3" in the documentation of Alibaba Cloud
 * (alibabacloud.com/help/en/sdk/product-overview/v3-request-structure-and-signature), with its fixed parameters.
 */
const CREDENTIALS = { accessKeyId: 'YourAccessKeyId', accessKeySecret: 'YourAccessKeySecret' };
const EXAMPLE = {
  host: 'ecs.cn-shanghai.aliyuncs.com',
  action: 'RunInstances',
  version: '2014-05-26',
  query: { RegionId: 'cn-shanghai', ImageId: 'win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd' },
  at: new Date('2023-10-26T10:22:32Z'),
  nonce: '3156853299f313e23d1673dc12e1703d',
};
const CANONICAL = `POST
/
ImageId=win2019_1809_x64_dtc_zh-cn_40G_alibase_20230811.vhd&RegionId=cn-shanghai
host:ecs.cn-shanghai.aliyuncs.com
x-acs-action:RunInstances
x-acs-content-sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
x-acs-date:2023-10-26T10:22:32Z
x-acs-signature-nonce:3156853299f313e23d1673dc12e1703d
x-acs-version:2014-05-26

host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version
e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855`;

describe('signRequest', () => {
  it('signs the published example as the documentation does', () => {
    expect(signRequest(EXAMPLE, CREDENTIALS)).toEqual({
      'x-acs-action': 'RunInstances',
      'x-acs-content-sha256': 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
      'x-acs-date': '2023-10-26T10:22:32Z',
      'x-acs-signature-nonce': '3156853299f313e23d1673dc12e1703d',
      'x-acs-version': '2014-05-26',
      authorization:
        'ACS3-HMAC-SHA256 Credential=YourAccessKeyId,SignedHeaders=host;x-acs-action;x-acs-content-sha256;x-acs-date;x-acs-signature-nonce;x-acs-version,Signature=06563a9e1b43f5dfe96b81484da74bceab24a1d853912eee15083a6f0f3283c0',
    });
  });

  it('signs the token of temporary credentials as a header of its own, in its place', () => {
    const { authorization = '', ...headers } = signRequest(EXAMPLE, {
      ...CREDENTIALS,
      securityToken: 'token',
    });
    expect(headers['x-acs-security-token']).toBe('token');
    expect(authorization).toContain('x-acs-date;x-acs-security-token;x-acs-signature-nonce');
    expect(authorization).not.toContain('06563a9e');
  });

  it.each([
    ['another secret', EXAMPLE, { ...CREDENTIALS, accessKeySecret: 'x' }],
    ['another nonce', { ...EXAMPLE, nonce: 'x' }, CREDENTIALS],
    ['another time', { ...EXAMPLE, at: new Date('2023-10-26T10:22:33Z') }, CREDENTIALS],
    ['another parameter', { ...EXAMPLE, query: { ...EXAMPLE.query, Amount: '2' } }, CREDENTIALS],
    ['another host', { ...EXAMPLE, host: 'ecs.cn-beijing.aliyuncs.com' }, CREDENTIALS],
  ])('gives another signature for %s', (_, request, credentials) => {
    expect(signRequest(request, credentials)['authorization']).not.toContain('06563a9e');
  });
});

describe('canonicalRequest', () => {
  it('is that of the published example', () => {
    const { authorization: _, ...headers } = signRequest(EXAMPLE, CREDENTIALS);
    expect(canonicalRequest(canonicalQuery(EXAMPLE.query), { host: EXAMPLE.host, ...headers })).toBe(
      CANONICAL,
    );
  });
});

describe('canonicalQuery', () => {
  it.each<[name: string, query: Record<string, string>, want: string]>([
    ['a space and a plus', { a: 'b c+d' }, 'a=b%20c%2Bd'],
    ['characters that encodeURIComponent leaves', { a: "!'()*" }, 'a=%21%27%28%29%2A'],
    ['characters that RFC 3986 leaves', { a: 'A-_.~9' }, 'a=A-_.~9'],
    ['base64 and JSON', { a: '["x/=="]' }, 'a=%5B%22x%2F%3D%3D%22%5D'],
    ['letters of other scripts', { 标签: 'ü' }, '%E6%A0%87%E7%AD%BE=%C3%BC'],
    ['names with numbers', { 'Tag.2.Key': 'b', 'Tag.10.Key': 'c' }, 'Tag.10.Key=c&Tag.2.Key=b'],
    ['an empty value', { b: '', a: '1' }, 'a=1&b='],
    ['nothing', {}, ''],
  ])('encodes %s', (_, query, want) => {
    expect(canonicalQuery(query)).toBe(want);
  });
});
