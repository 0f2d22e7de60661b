import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MASK } from '../../../src/kube/objects/redact-secret.ts';
import type { LogFields } from '../../../src/kube/process/log.ts';
import { redactFields, redactText } from '../../../src/kube/process/redact-log.ts';

const PEM = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });

const JWT = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl';

const KUBECONFIG = 'apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {exec: {command: x}}\n';

describe('redactFields', () => {
  it.each<[name: string, fields: LogFields]>([
    ['a token by the name of its field', { token: 'CANARY' }],
    ['a header', { headers: { Authorization: 'CANARY' } }],
    ['client-key-data', { user: { 'client-key-data': 'CANARY' } }],
    ['clientKeyData', { user: { clientKeyData: 'CANARY' } }],
    ['CLIENT_SECRET', { env: { CLIENT_SECRET: 'CANARY' } }],
    ['a list under a secret name', { password: ['CANARY'] }],
    ['the data of a Secret', { object: { kind: 'Secret', metadata: { name: 'a' }, data: { x: 'CANARY' } } }],
    ['the annotations of a Secret', { kind: 'Secret', metadata: { annotations: { last: 'CANARY' } } }],
    ['the items of a SecretList', { list: { kind: 'SecretList', items: [{ data: { x: 'CANARY' } }] } }],
    ['bytes', { body: new TextEncoder().encode('CANARY') }],
    ['a Buffer', { body: Buffer.from('CANARY') }],
    ['a key object', { identity: createSecretKey(Buffer.from('CANARY')) }],
    ['a bearer token in a text', { text: 'sent Authorization: Bearer CANARY.CANARY' }],
    ['a bearer token in an error', { error: new Error('401 for Bearer CANARYCANARY') }],
    ['a bearer token in a cause', { error: new Error('x', { cause: new Error('Bearer CANARYCANARY') }) }],
    ['a password in a URL', { url: new URL('https://me:CANARY@git.example/x.git') }],
    ['a password in the text of a URL', { text: 'cloning https://me:CANARY@git.example/x.git failed' }],
    ['a token in a query', { text: 'GET https://a/b?access_token=CANARY&x=1' }],
    ['a token in YAML', { text: 'users:\n- user:\n    token: CANARY1' }],
    ['a token in JSON', { text: '{"token":"CANARY1"}' }],
    ['a key of a Map', { headers: new Map([['authorization', 'CANARY']]) }],
  ])('hides %s', (_, fields) => {
    const shown = JSON.stringify(redactFields(fields));
    expect(shown).not.toContain('CANARY');
    expect(shown).not.toContain(Buffer.from('CANARY').toString('base64').slice(0, 6));
  });

  it.each([
    ['a PEM key', PEM],
    ['a PEM key cut off', PEM.slice(0, 80)],
    ['a JWT', JWT],
    ['a kubeconfig', KUBECONFIG],
    ['a kubeconfig as JSON', JSON.stringify({ kind: 'Config', users: [{ name: 'a' }] })],
  ])('hides %s inside a text', (_, secret) => {
    expect(redactText(`before ${secret} after`)).toContain(MASK);
    expect(redactText(`before ${secret} after`)).not.toContain(secret);
    expect(JSON.stringify(redactFields({ text: secret }))).not.toContain(secret.slice(-30, -2));
  });

  it.each<[name: string, fields: Record<string, unknown>]>([
    ['the key of a work queue', { key: 'machine-1' }],
    ['the path of a kubeconfig', { kubeconfig: '/home/me/.kube/config' }],
    ['the name of a Secret', { kind: 'Secret', metadata: { name: 'a', namespace: 'b' } }],
    ['a reference to a Secret', { secretRef: { name: 'prod-kubeconfig', key: 'kubeconfig' } }],
    ['an ordinary URL', { url: 'https://git.example:8443/x.git' }],
    ['numbers, booleans and null', { a: 1, b: true, c: null }],
  ])('shows %s', (_, fields) => {
    expect(redactFields(fields)).toEqual(fields);
  });

  it('replaces a secret by the mask', () => {
    const identity = createSecretKey(Buffer.from('CANARY'));
    expect(redactFields({ identity, token: 'CANARY' })).toEqual({ identity: MASK, token: MASK });
  });

  it('cuts cycles, depth, long lists and long texts', () => {
    const cycle: Record<string, unknown> = { name: 'a' };
    cycle['self'] = cycle;
    expect(redactFields({ cycle })).toEqual({ cycle: { name: 'a', self: '[circular]' } });
    expect(JSON.stringify(redactFields({ a: nested(50) }))).toContain('[too deep]');
    expect(redactFields({ list: Array.from({ length: 103 }, () => 1) })['list']).toHaveLength(101);
    expect(String(redactFields({ text: 'x'.repeat(1e6) })['text']).length).toBeLessThan(10_000);
  });

  it('writes an object that occurs twice in full both times', () => {
    const shared = { name: 'a' };
    expect(redactFields({ one: shared, two: shared })).toEqual({ one: shared, two: shared });
  });

  it('survives properties that throw', () => {
    const hostile = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    const values = { hostile, n: Number.NaN, big: 1n, symbol: Symbol('s'), date: new Date('x'), f: () => 1 };
    expect(JSON.stringify(redactFields(values))).toContain('[unreadable]');
  });

  it('redacts a text of a megabyte, for which a quadratic search would take hours', () => {
    const text = `${'level=info some words\n'.repeat(50_000)}password: hunter2hunter2\n`;
    expect(redactText(text).endsWith(`password: ${MASK}\n`)).toBe(true);
  });

  it('never throws, and always returns plain JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true })), (fields) => {
        expect(() => JSON.stringify(redactFields(fields))).not.toThrow();
      }),
    );
  });
});

function nested(levels: number): unknown {
  return levels === 0 ? 'bottom' : { a: nested(levels - 1) };
}
