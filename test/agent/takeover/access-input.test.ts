import { describe, expect, it } from 'vitest';
import { parseAccess, parseOwner } from '../../../src/agent/takeover/access-input.ts';
import { TakeoverError } from '../../../src/agent/takeover/errors.ts';

describe('parseOwner', () => {
  it.each([
    ['nothing, as in an image', '', {}],
    ['both UIDs', '{"machineUid":"u1","clusterUid":"c1"}', { machineUid: 'u1', clusterUid: 'c1' }],
    ['fields of a newer caller', '{"machineUid":"u1","more":1}', { machineUid: 'u1' }],
  ])('accepts %s', (_, text, owner) => {
    expect(parseOwner(text)).toEqual(owner);
  });

  it.each([
    ['no JSON', 'token-1234', 'stdin: expected a JSON object'],
    ['a list', '["u1"]', 'stdin: expected a JSON object'],
    ['a number', '{"machineUid":1}', 'stdin: machineUid is not a text'],
    ['what is not a UID', '{"clusterUid":"a b"}', 'stdin: clusterUid is not a UID'],
  ])('refuses %s, and does not repeat it', (_, text, message) => {
    expect(() => parseOwner(text)).toThrow(new TakeoverError('BadInput', message));
  });
});

describe('parseAccess', () => {
  const sent = { certificatePem: 'PEM', server: 'https://10.0.0.1:6443' };

  it('accepts a server with and without a CA', () => {
    expect(parseAccess(JSON.stringify(sent))).toEqual(sent);
    expect(parseAccess(JSON.stringify({ ...sent, ca: 'CA' }))).toEqual({ ...sent, ca: 'CA' });
  });

  it('accepts credentials of registries', () => {
    const registries = '{"auths": {"r.example.com": {"auth": "b25l"}}}';
    expect(parseAccess(JSON.stringify({ ...sent, registries }))).toEqual({ ...sent, registries });
  });

  it.each([
    [
      'other credentials than those of registries',
      { ...sent, registries: '{"s3cret": 1}' },
      'stdin: registries is not a config.json of Docker with credentials',
    ],
    ['no certificate', { server: sent.server }, 'stdin: certificatePem is missing'],
    ['no server', { certificatePem: 'PEM' }, 'stdin: server is missing'],
    ['another protocol', { ...sent, server: 'http://s3cret' }, 'stdin: server is not an https URL'],
    ['an empty CA', { ...sent, ca: '' }, 'stdin: ca is not a text'],
  ])('MAC-12 refuses %s, and does not repeat it', (_, input, message) => {
    expect(() => parseAccess(JSON.stringify(input))).toThrow(new TakeoverError('BadInput', message));
  });
});
