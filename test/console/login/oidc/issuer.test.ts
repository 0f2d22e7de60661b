/** The client of an issuer, against a small issuer over HTTPS. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpsFetch } from '../../../../src/console/login/oidc/https-fetch.ts';
import { createIssuer, type IssuedTokens, type Issuer } from '../../../../src/console/login/oidc/issuer.ts';
import { type IssuerFaults, type OidcIssuer, startOidcIssuer } from '../../../support/oidc-issuer.ts';

const CALLBACK = 'https://console.example.com/login/oidc/callback';
const clientId = 'kubenode-console';

interface Bed {
  readonly standIn: OidcIssuer;
  readonly issuer: Issuer;
}

async function bed(
  clientSecret: string | undefined = 'secret-of-the-client',
  methods?: readonly string[],
): Promise<Bed> {
  const standIn = await startOidcIssuer({
    clientId,
    ...(clientSecret === undefined ? {} : { clientSecret }),
    ...(methods ? { methods } : {}),
  });
  onTestFinished(() => standIn.close());
  const fetch = createHttpsFetch(standIn.caPem);
  return {
    standIn,
    issuer: createIssuer({ issuer: standIn.url, clientId, clientSecret, scopes: ['groups'], fetch }),
  };
}

async function signIn({ standIn, issuer }: Bed): Promise<IssuedTokens> {
  const { url, checks } = await issuer.start(CALLBACK);
  return await issuer.finish(await standIn.signIn(url.href), checks);
}

describe('createIssuer', () => {
  it('CON-27 exchanges a code for the token of a person, with PKCE, state and nonce', async () => {
    const each = await bed();
    const { url } = await each.issuer.start(CALLBACK);
    expect(Object.fromEntries(url.searchParams)).toMatchObject({
      client_id: clientId,
      redirect_uri: CALLBACK,
      response_type: 'code',
      scope: 'openid groups',
      code_challenge_method: 'S256',
    });
    const tokens = await signIn(each);
    expect(tokens).toMatchObject({ subject: 'anna', refreshToken: undefined });
    expect(each.standIn.secrets).toContain(tokens.idToken);
    expect(each.standIn.grants).toEqual(['authorization_code by header']);
  });

  it.each([
    ['the form, where the issuer supports both', ['client_secret_basic', 'client_secret_post'], 'form'],
    ['the header, which alone the issuer supports', ['client_secret_basic'], 'header'],
  ])('proves who the client is by %s', async (_, methods, how) => {
    const each = await bed('secret-of-the-client', methods);
    await signIn(each);
    expect(each.standIn.grants).toEqual([`authorization_code by ${how}`]);
  });

  it('needs no secret as a public client', async () => {
    const standIn = await startOidcIssuer({ clientId });
    onTestFinished(() => standIn.close());
    const fetch = createHttpsFetch(standIn.caPem);
    const issuer = createIssuer({
      issuer: standIn.url,
      clientId,
      clientSecret: undefined,
      scopes: [],
      fetch,
    });
    expect((await signIn({ standIn, issuer })).subject).toBe('anna');
    expect(standIn.grants).toEqual(['authorization_code by nothing']);
  });

  it.each<[string, IssuerFaults, string]>([
    ['another nonce', { nonce: 'of-another-sign-in' }, 'unexpected JWT claim value'],
    ['another audience', { audience: 'another-client' }, 'unexpected JWT claim value'],
    ['another issuer', { issuer: 'https://evil.example' }, 'unexpected JWT claim value'],
    ['a signature of a key that is not published', { isForged: true }, 'invalid response'],
    ['an error', { error: 'invalid_grant' }, 'responded with an error'],
  ])('CON-27 refuses a token with %s', async (_, faults, message) => {
    const each = await bed();
    each.standIn.faults = faults;
    await expect(signIn(each)).rejects.toThrow(message);
  });

  it('CON-27 refuses the state of another sign-in, a code that was used, and a person who denies', async () => {
    const each = await bed();
    const { standIn, issuer } = each;
    const [one, other] = [await issuer.start(CALLBACK), await issuer.start(CALLBACK)];
    const back = await standIn.signIn(one.url.href);
    await expect(issuer.finish(back, other.checks)).rejects.toThrow('invalid response');
    expect(standIn.grants).toEqual([]);
    await issuer.finish(back, one.checks);
    await expect(issuer.finish(back, one.checks)).rejects.toThrow('responded with an error');
    standIn.person = undefined;
    await expect(signIn(each)).rejects.toThrow('authorization response');
  });

  it('CON-27 refuses a code with the verifier of another sign-in', async () => {
    const { standIn, issuer } = await bed();
    const [one, other] = [await issuer.start(CALLBACK), await issuer.start(CALLBACK)];
    const back = await standIn.signIn(one.url.href);
    const checks = { ...one.checks, verifier: other.checks.verifier };
    await expect(issuer.finish(back, checks)).rejects.toThrow('responded with an error');
    expect(standIn.grants).toEqual(['authorization_code by header']);
  });

  it('CON-27 renews a token for the same person only', async () => {
    const each = await bed();
    each.standIn.isRenewing = true;
    const first = await signIn(each);
    const second = await each.issuer.renew(first);
    expect(second.idToken).not.toBe(first.idToken);
    each.standIn.faults = { subject: 'ben' };
    await expect(each.issuer.renew(second)).rejects.toMatchObject({ name: 'RenewalRefused' });
  });

  it('CON-27 tells a refusal from an issuer that cannot be asked', async () => {
    const each = await bed();
    each.standIn.isRenewing = true;
    const tokens = await signIn(each);
    each.standIn.faults = { error: 'server_error' };
    await expect(each.issuer.renew(tokens)).rejects.not.toMatchObject({ name: 'RenewalRefused' });
    each.standIn.faults = { error: 'invalid_grant' };
    await expect(each.issuer.renew(tokens)).rejects.toMatchObject({ name: 'RenewalRefused' });
    await expect(each.issuer.renew({ ...tokens, refreshToken: undefined })).rejects.toMatchObject({
      name: 'RenewalRefused',
    });
  });

  it('refuses a renewal without a token that the API server could read', async () => {
    const each = await bed();
    each.standIn.isRenewing = true;
    const tokens = await signIn(each);
    each.standIn.faults = { isWithoutIdToken: true };
    await expect(each.issuer.renew(tokens)).rejects.toMatchObject({ name: 'RenewalRefused' });
  });

  it('CON-27 trusts only the authority of the issuer, and reads its metadata again after an error', async () => {
    const { standIn } = await bed();
    const fetches = [createHttpsFetch(undefined), createHttpsFetch(standIn.caPem)];
    const issuer = createIssuer({
      issuer: standIn.url,
      clientId,
      clientSecret: 'secret-of-the-client',
      scopes: [],
      fetch: (url, options) => (fetches.shift() ?? createHttpsFetch(standIn.caPem))(url, options),
    });
    await expect(issuer.start(CALLBACK)).rejects.toThrow('something went wrong');
    expect((await issuer.start(CALLBACK)).url.origin).toBe(standIn.url);
  });
});
