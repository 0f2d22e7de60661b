/** Signs people in at an issuer of OpenID Connect: authorization code with PKCE, state and nonce. */
import * as oidc from 'openid-client';
import type { HttpsFetch } from './https-fetch.ts';
import { RenewalRefused } from './renewal-refused.ts';

export interface IssuerSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined: a public client. */
  readonly clientSecret: string | undefined;
  readonly scopes: readonly string[];
  readonly fetch: HttpsFetch;
}

/** Holds the values that a sign-in must have at its end as at its begin. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

export interface IssuedTokens {
  /** The token that the API server reads. */
  readonly idToken: string;
  readonly subject: string;
  readonly endsAt: Date;
  /** Undefined: the issuer does not renew it. */
  readonly refreshToken?: string | undefined;
}

export interface Issuer {
  /** Returns where the person signs in. */
  start(redirectUri: string): Promise<{ readonly url: URL; readonly checks: SignInChecks }>;
  /** Exchanges what the issuer led back with. */
  finish(callback: URL, checks: SignInChecks): Promise<IssuedTokens>;
  /** Rejects with RenewalRefused when the issuer does not renew it, and with another error when it cannot be asked. */
  renew(tokens: IssuedTokens): Promise<IssuedTokens>;
}

const TIMEOUT_SECONDS = 10;

export function createIssuer(settings: IssuerSettings): Issuer {
  const { scopes } = settings;
  let known: Promise<oidc.Configuration> | undefined;
  return {
    async start(redirectUri) {
      const config = await discover();
      const checks = {
        state: oidc.randomState(),
        nonce: oidc.randomNonce(),
        verifier: oidc.randomPKCECodeVerifier(),
      };
      const url = oidc.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: [...new Set(['openid', ...scopes])].join(' '),
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
      });
      return { url, checks };
    },
    async finish(callback, { state, nonce, verifier }) {
      const answer = await oidc.authorizationCodeGrant(await discover(), callback, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      return tokensOf(answer);
    },
    async renew(tokens) {
      const { refreshToken, subject } = tokens;
      if (refreshToken === undefined) throw new RenewalRefused();
      const renewed = tokensOf(await refresh(refreshToken), refreshToken);
      if (renewed.subject !== subject) throw new RenewalRefused();
      return renewed;
    },
  };

  /** The metadata is read once. After an error it is read again. */
  async function discover(): Promise<oidc.Configuration> {
    known ??= readMetadata(settings);
    try {
      return await known;
    } catch (error) {
      known = undefined;
      throw error;
    }
  }

  async function refresh(refreshToken: string): Promise<TokenAnswer> {
    try {
      return await oidc.refreshTokenGrant(await discover(), refreshToken);
    } catch (error) {
      const isRefused = error instanceof oidc.ResponseBodyError && error.error === 'invalid_grant';
      throw isRefused ? new RenewalRefused() : error;
    }
  }
}

async function readMetadata({
  issuer,
  clientId,
  clientSecret,
  fetch,
}: IssuerSettings): Promise<oidc.Configuration> {
  return await oidc.discovery(new URL(issuer), clientId, undefined, authenticationWith(clientSecret), {
    // Beside TLS, the signature of each token is checked, too.
    execute: [oidc.enableNonRepudiationChecks],
    timeout: TIMEOUT_SECONDS,
    [oidc.customFetch]: async (url, { method, headers, body, signal }) =>
      await fetch(url, { method, headers, body, ...(signal ? { signal } : {}) }),
  });
}

/**
 * As the issuer supports it; one that names nothing supports the header. The form is preferred: in the header, an id with a hyphen is
 * encoded, which not every issuer decodes.
 */
function authenticationWith(secret: string | undefined): oidc.ClientAuth {
  if (secret === undefined) return oidc.None();
  const [byHeader, byForm] = [oidc.ClientSecretBasic(secret), oidc.ClientSecretPost(secret)];
  return (server, ...rest) => {
    const methods = server.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
    (methods.includes('client_secret_post') ? byForm : byHeader)(server, ...rest);
  };
}

type TokenAnswer = Awaited<ReturnType<typeof oidc.refreshTokenGrant>>;

/** An issuer may keep the refresh token, and then sends none. */
function tokensOf(answer: TokenAnswer, before?: string): IssuedTokens {
  const claims = answer.claims();
  if (answer.id_token === undefined || !claims) throw new RenewalRefused();
  return {
    idToken: answer.id_token,
    subject: claims.sub,
    endsAt: new Date(claims.exp * 1000),
    refreshToken: answer.refresh_token ?? before,
  };
}
