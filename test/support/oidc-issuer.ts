/** A small issuer of OpenID Connect over HTTPS, which signs in whom the test names, and can be wrong in each way that a client must notice. */
import { createHash, generateKeyPairSync, randomUUID, sign } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createSystemClock } from '../../src/os/system-clock.ts';
import { authority, bodyOf, serverPair } from './kube/tls-server.ts';

export interface IssuerFaults {
  nonce?: string;
  audience?: string;
  issuer?: string;
  subject?: string;
  /** Signs with a key that is not published. */
  isForged?: boolean;
  /** The token endpoint answers with this error. */
  error?: string;
  /** Renewals have no ID token. */
  isWithoutIdToken?: boolean;
}

export interface OidcIssuer {
  readonly url: string;
  readonly caPem: string;
  /** The person that signs in next. Undefined: the person denies. */
  person: { readonly subject: string; readonly groups: readonly string[] } | undefined;
  tokenSeconds: number;
  /** Whether it gives refresh tokens. */
  isRenewing: boolean;
  faults: IssuerFaults;
  /** The requests to the token endpoint, without secrets. */
  readonly grants: string[];
  /** Follows the link of a sign-in as a browser that is signed in at the issuer. Returns where it leads back to. */
  signIn(location: string): Promise<URL>;
  /** All tokens, codes and secrets that it gave. */
  readonly secrets: string[];
  close(): Promise<void>;
}

interface Begun {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
  readonly subject: string;
  readonly groups: readonly string[];
}

interface IssuerOptions {
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly methods?: readonly string[];
}

const keyId = 'one';
const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

export async function startOidcIssuer({
  clientId,
  clientSecret,
  methods,
}: IssuerOptions): Promise<OidcIssuer> {
  const pair = serverPair();
  const [published, other] = [createKey(), createKey()];
  const begun = new Map<string, Begun>();
  const renewals = new Map<string, Begun>();
  const clock = createSystemClock();
  const server = createServer({ cert: pair.certPem, key: pair.keyPem }, (request, response) => {
    void answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const issuer: OidcIssuer = {
    url,
    caPem: authority.certPem,
    person: { subject: 'anna', groups: [] },
    tokenSeconds: 3600,
    isRenewing: false,
    faults: {},
    grants: [],
    secrets: [],
    signIn: (location) => Promise.resolve(authorize(new URL(location))),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return issuer;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? '', url);
    if (pathname === '/.well-known/openid-configuration') return sendJson(response, 200, metadata());
    if (pathname === '/keys') return sendJson(response, 200, { keys: [published.jwk] });
    if (pathname === '/token') {
      const form = new URLSearchParams(await bodyOf(request));
      return sendJson(response, ...grant(form, request.headers.authorization));
    }
    return sendJson(response, 404, {});
  }

  function metadata(): object {
    return {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      jwks_uri: `${url}/keys`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['RS256'],
      code_challenge_methods_supported: ['S256'],
      ...(methods ? { token_endpoint_auth_methods_supported: methods } : {}),
    };
  }

  function authorize({ origin, pathname, searchParams: asked }: URL): URL {
    const get = (name: string): string => asked.get(name) ?? '';
    const isExpected =
      origin === url &&
      pathname === '/authorize' &&
      get('client_id') === clientId &&
      get('response_type') === 'code' &&
      get('code_challenge_method') === 'S256' &&
      get('scope').split(' ').includes('openid');
    if (!isExpected) throw new Error(`not a sign-in: ${asked.toString()}`);
    const back = new URL(get('redirect_uri'));
    back.searchParams.set('state', get('state'));
    if (!issuer.person) {
      back.searchParams.set('error', 'access_denied');
      return back;
    }
    const code = keepSecret();
    const { subject, groups } = issuer.person;
    const [challenge, nonce] = [get('code_challenge'), get('nonce')];
    begun.set(code, { challenge, nonce, redirectUri: get('redirect_uri'), subject, groups });
    back.searchParams.set('code', code);
    return back;
  }

  function keepSecret(secret: string = randomUUID()): string {
    issuer.secrets.push(secret);
    return secret;
  }

  function grant(form: URLSearchParams, header: string | undefined): [number, object] {
    const type = form.get('grant_type') ?? '';
    issuer.grants.push(`${type} by ${proofOf(form, header)}`);
    if (!isAuthenticated(form, header)) return [401, { error: 'invalid_client' }];
    if (issuer.faults.error !== undefined) return [400, { error: issuer.faults.error }];
    const isRenewal = type === 'refresh_token';
    const found = isRenewal ? renewed(form) : exchanged(form);
    return found ? [200, answerOf(found, isRenewal)] : [400, { error: 'invalid_grant' }];
  }

  function answerOf(found: Begun, isRenewal: boolean): object {
    const isLeftOut = isRenewal && issuer.faults.isWithoutIdToken;
    const id = isLeftOut ? {} : { id_token: keepSecret(idToken(found)) };
    return { access_token: keepSecret(), token_type: 'Bearer', expires_in: 60, ...id, ...refreshOf(found) };
  }

  /** In the header, id and secret are encoded as in a form. */
  function isAuthenticated(form: URLSearchParams, header: string | undefined): boolean {
    if (clientSecret === undefined) return form.get('client_id') === clientId;
    const text = Buffer.from(header?.slice('Basic '.length) ?? '', 'base64').toString('utf8');
    const [id, secret] =
      header === undefined ? [form.get('client_id'), form.get('client_secret')] : decoded(text);
    return id === clientId && secret === clientSecret;
  }

  function exchanged(form: URLSearchParams): Begun | undefined {
    const code = form.get('code') ?? '';
    const found = begun.get(code);
    begun.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    return found?.challenge === challenge && found.redirectUri === form.get('redirect_uri')
      ? found
      : undefined;
  }

  /** A refresh token is good for one renewal. */
  function renewed(form: URLSearchParams): Begun | undefined {
    const token = form.get('refresh_token') ?? '';
    const found = renewals.get(token);
    renewals.delete(token);
    return found;
  }

  function refreshOf(found: Begun): object {
    if (!issuer.isRenewing) return {};
    const token = keepSecret();
    renewals.set(token, found);
    return { refresh_token: token };
  }

  function idToken({ nonce, subject, groups }: Begun): string {
    const now = Math.floor(clock.now().getTime() / 1000);
    const { faults } = issuer;
    const claims = {
      iss: faults.issuer ?? url,
      aud: faults.audience ?? clientId,
      sub: faults.subject ?? subject,
      nonce: faults.nonce ?? nonce,
      groups,
      iat: now,
      jti: randomUUID(),
      exp: now + issuer.tokenSeconds,
    };
    const text = `${base64url({ alg: 'RS256', kid: keyId })}.${base64url(claims)}`;
    const { privateKey } = faults.isForged ? other : published;
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`;
  }
}

function proofOf(form: URLSearchParams, header: string | undefined): 'header' | 'form' | 'nothing' {
  if (header !== undefined) return 'header';
  return form.has('client_secret') ? 'form' : 'nothing';
}

function decoded(text: string): readonly string[] {
  return text.split(':').map((part) => decodeURIComponent(part));
}

function createKey() {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    privateKey,
    jwk: { ...publicKey.export({ format: 'jwk' }), kid: keyId, use: 'sig', alg: 'RS256' },
  };
}

function sendJson(response: ServerResponse, status: number, content: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
  response.end(JSON.stringify(content));
}
