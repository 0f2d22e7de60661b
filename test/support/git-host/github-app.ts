/**
 * A stand-in for the GitHub Apps of GitHub: it verifies the signature and the times of each JWT, and issues tokens that end. Must not
 * import vitest.
 */
import { generateKeyPairSync, verify } from 'node:crypto';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import type { StandInAnswer } from './pull-requests.ts';

export interface StandInApp {
  readonly appID: string;
  readonly privateKey: string;
  /** What a Secret has to contain. */
  readonly data: Readonly<Record<string, string>>;
  /** Its installation. Undefined: it was removed. */
  installationID: string | undefined;
  isSuspended: boolean;
  lifetimeMs: number;
  /** Requests for a token. */
  readonly requests: { readonly url: string; readonly jwt: string }[];
  readonly issued: string[];
  /** Returns undefined for a path that is not one of Apps. */
  answer(request: AppRequest): StandInAnswer | undefined;
  /** Tells whether a token is one of the App that has not ended. */
  readonly accepts: (token: string) => boolean;
  revoke(token: string): void;
}

export interface AppRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
}

const TOKENS = /^(?:\/api\/v3)?\/app\/installations\/(?<id>[^/]+)\/access_tokens$/;
const INSTALLATION = '4711';

/** `now` is the clock of the host. */
export function createStandInApp(now = () => createSystemClock().now(), appID = '1234'): StandInApp {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' });
  const ends = new Map<string, number>();
  const app: StandInApp = {
    appID,
    privateKey: pem,
    data: { appID, installationID: INSTALLATION, privateKey: pem },
    installationID: INSTALLATION,
    isSuspended: false,
    lifetimeMs: 3_600_000,
    requests: [],
    issued: [],
    answer,
    accepts: (token) => (ends.get(token) ?? 0) > now().getTime(),
    revoke: (token) => void ends.delete(token),
  };
  return app;

  function answer({ method, url, authorization = '' }: AppRequest): StandInAnswer | undefined {
    const { id } = TOKENS.exec(url)?.groups ?? {};
    if (id === undefined || method !== 'POST') return undefined;
    const jwt = authorization.replace(/^Bearer /, '');
    app.requests.push({ url, jwt });
    const refusal = refusalOf(jwt, id);
    if (refusal) return { status: refusal[0], json: { message: refusal[1] }, headers: dated() };
    const token = `ghs_${appID}_${app.issued.length + 1}`;
    app.issued.push(token);
    const endMs = now().getTime() + app.lifetimeMs;
    ends.set(token, endMs);
    const expiresAt = `${new Date(endMs).toISOString().slice(0, 19)}Z`;
    return { status: 201, json: { token, expires_at: expiresAt }, headers: dated() };
  }

  function dated(): Record<string, string> {
    return { date: now().toUTCString() };
  }

  function refusalOf(jwt: string, id: string): readonly [number, string] | undefined {
    const [head = '', claims = '', signature = ''] = jwt.split('.');
    const isSigned = verify(
      'sha256',
      Buffer.from(`${head}.${claims}`),
      publicKey,
      Buffer.from(signature, 'base64url'),
    );
    if (!isSigned) return [401, 'A JSON web token could not be decoded'];
    const problem = claimProblem({ ...decoded(head), ...decoded(claims) }, appID, now());
    if (problem !== undefined) return [401, problem];
    if (id !== app.installationID) return [404, 'Not Found'];
    return app.isSuspended ? [403, 'This installation has been suspended'] : undefined;
  }
}

interface Claims {
  readonly alg?: string;
  readonly iss?: string;
  readonly iat?: number;
  readonly exp?: number;
}

function claimProblem({ alg, iss, iat = 0, exp = 0 }: Claims, appID: string, now: Date): string | undefined {
  const seconds = now.getTime() / 1000;
  if (alg !== 'RS256' || iss !== appID) return 'Integration not found';
  if (iat > seconds) return "'Issued at' claim ('iat') must be in the past";
  if (exp <= seconds) return "'Expiration time' claim ('exp') must be in the future";
  return exp > seconds + 600 ? "'Expiration time' claim ('exp') is too far in the future" : undefined;
}

function decoded(part: string): Claims {
  return JSON.parse(Buffer.from(part, 'base64url').toString('utf8')) as Claims;
}
