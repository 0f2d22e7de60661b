import { createSecretKey, generateKeyPairSync } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { KubeError } from '../../../src/kube/client/errors.ts';
import type { Log, LogFields } from '../../../src/kube/process/log.ts';
import { createLogger, type LogLevel } from '../../../src/kube/process/logger.ts';
import { MASK, redactFields, redactText } from '../../../src/kube/process/redact-log.ts';

const clock = { now: () => new Date('2030-01-01T12:00:00Z') };
const PEM = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
const JWT = 'eyJhbGciOiJSUzI1NiIsImtpZCI6IngifQ.eyJpc3MiOiJrdWJlcm5ldGVzIn0.c2lnbmF0dXJl';
const KUBECONFIG = 'apiVersion: v1\nkind: Config\nusers:\n- name: a\n  user: {exec: {command: x}}\n';

describe('createLogger', () => {
  it('writes one JSON line with level, time, message and fields', () => {
    expect(written('info', (log) => log.info('machine started', { machine: 'a', batch: 2 }))).toEqual([
      { level: 'info', time: '2030-01-01T12:00:00.000Z', message: 'machine started', machine: 'a', batch: 2 },
    ]);
  });

  it.each<[level: LogLevel, want: string[]]>([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['info', ['info', 'warn', 'error']],
    ['warn', ['warn', 'error']],
    ['error', ['error']],
  ])('at level %s writes %j', (level, want) => {
    const lines = written(level, (log) => {
      log.debug('a');
      log.info('b');
      log.warn('c');
      log.error('d');
    });
    expect(lines.map((line) => line['level'])).toEqual(want);
  });

  it('carries the fields of its parents, and the nearest one wins', () => {
    const lines = written('info', (log) => log.with({ a: 1, b: 1 }).with({ b: 2 }).info('x', { c: 3 }));
    expect(lines[0]).toMatchObject({ a: 1, b: 2, c: 3 });
  });

  it('never lets a field replace the frame', () => {
    const raw = rawLines('info', (log) => log.info('right', { message: 'wrong', level: 'x', time: 'y' }));
    expect(raw[0]?.match(/"message":/g)).toHaveLength(1);
    expect(JSON.parse(raw[0] ?? '')).toMatchObject({ message: 'right', message_: 'wrong', level: 'info' });
  });

  it('writes an error with code, status and the chain of causes', () => {
    const error = new KubeError('Conflict', 'PUT machines/a: changed', {
      status: 409,
      cause: new Error('inner', { cause: Object.assign(new Error('deepest'), { code: 'ECONNRESET' }) }),
    });
    const [line] = written('info', (log) => log.warn('machine not started', { error }));
    expect(line?.['error']).toMatchObject({
      name: 'KubeError',
      code: 'Conflict',
      status: 409,
      message: 'PUT machines/a: changed',
      cause: { message: 'inner', cause: { message: 'deepest', code: 'ECONNRESET' } },
    });
  });

  it('shows the stack of errors that nobody foresaw, and only of these', () => {
    expect(redactFields({ error: new TypeError('bug') })).toHaveProperty(['error', 'stack']);
    expect(redactFields({ error: new KubeError('Gone', 'old') })).not.toHaveProperty(['error', 'stack']);
  });

  it('writes all errors of an AggregateError', () => {
    const error = new AggregateError([new Error('one'), new Error('two')], 'both');
    expect(redactFields({ error })).toMatchObject({
      error: { errors: [{ message: 'one' }, { message: 'two' }] },
    });
  });
});

describe('redactFields', () => {
  it.each<[name: string, fields: LogFields]>([
    ['a token by its name', { token: 'CANARY' }],
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

  it('says that there was something to hide', () => {
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

  it('writes a thing that is named twice twice', () => {
    const shared = { name: 'a' };
    expect(redactFields({ one: shared, two: shared })).toEqual({ one: shared, two: shared });
  });

  it('survives what cannot be read', () => {
    const hostile = Object.defineProperty({}, 'x', {
      enumerable: true,
      get: () => {
        throw new Error('no');
      },
    });
    const values = { hostile, n: Number.NaN, big: 1n, symbol: Symbol('s'), date: new Date('x'), f: () => 1 };
    expect(JSON.stringify(redactFields(values))).toContain('[unreadable]');
  });

  it('never throws, and always gives what JSON can hold', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything({ withBigInt: true, withDate: true })), (fields) => {
        expect(() => JSON.stringify(redactFields(fields))).not.toThrow();
      }),
    );
  });
});

describe('messages', () => {
  /** A template, a variable, or a text with something added to it. A choice between two constants is fine. */
  const VARYING = /\blog\.(?:debug|info|warn|error)\(\s*(?:`|[\w.]+\s*[,)]|'[^'\n]*'\s*\+|"[^"\n]*"\s*\+)/g;

  it('of all sources are constant', () => {
    const varying = ['src', 'fleet', 'rules'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.ts'))
        .flatMap((file) =>
          [...readFileSync(`${folder}/${file}`, 'utf8').matchAll(VARYING)].map(
            ([call]) => `${folder}/${file}: ${call}`,
          ),
        ),
    );
    expect(varying).toEqual([]);
  });

  it.each([
    ['log.info(`started ${name}`)', true],
    ["log.warn('started ' + name)", true],
    ['log.error(message, { key })', true],
    ['log.debug(error.message)', true],
    ["log.info('started', { name })", false],
    ["log.info(again ? 'replaced' : 'applied', fields)", false],
  ])('%s varies: %s', (call, varies) => {
    expect([...call.matchAll(VARYING)].length > 0).toBe(varies);
  });
});

function nested(levels: number): unknown {
  return levels === 0 ? 'bottom' : { a: nested(levels - 1) };
}

function rawLines(level: LogLevel, act: (log: Log) => void): string[] {
  const lines: string[] = [];
  act(createLogger({ level, clock, stream: { write: (line) => lines.push(line) } }));
  return lines;
}

function written(level: LogLevel, act: (log: Log) => void): Record<string, unknown>[] {
  return rawLines(level, act).map((line) => JSON.parse(line) as Record<string, unknown>);
}
