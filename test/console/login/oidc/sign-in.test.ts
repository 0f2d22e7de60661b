/** The sign-in at an issuer, as a browser goes through it. */
import { describe, expect, it, onTestFinished } from 'vitest';
import { createHttpsFetch } from '../../../../src/console/login/oidc/https-fetch.ts';
import { createIssuer } from '../../../../src/console/login/oidc/issuer.ts';
import { type OidcIssuer, startOidcIssuer } from '../../../support/oidc-issuer.ts';
import { type LoginBed, startLoginConsole } from '../bed.ts';
import { type CookieClient, createCookieClient, type PageReply } from '../cookie-client.ts';

const clientId = 'kubenode-console';
const clientSecret = 'secret-of-the-client';
/** As a browser comes back from the issuer. */
const FROM_ISSUER = { headers: { 'sec-fetch-site': 'cross-site' } };

interface Bed extends LoginBed {
  readonly issuer: OidcIssuer;
  readonly client: CookieClient;
  readonly browser: () => CookieClient;
}

/** The API server reads the subject of each token that the issuer gave. */
async function bed(): Promise<Bed> {
  const issuer = await startOidcIssuer({ clientId, clientSecret });
  onTestFinished(() => issuer.close());
  const fetch = createHttpsFetch(issuer.caPem);
  const client = createIssuer({ issuer: issuer.url, clientId, clientSecret, scopes: [], fetch });
  const started = await startLoginConsole({}, { issuer: { name: 'login.example.com', client } });
  started.tokens.people.get = (token) => {
    if (!issuer.secrets.includes(token)) return undefined;
    const claims: unknown = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString());
    return { name: (claims as { sub: string }).sub, machines: ['m-1'] };
  };
  const browser = (): CookieClient => createCookieClient(started.server.url);
  return { ...started, issuer, client: browser(), browser };
}

/** Follows the link of the sign-in page to the issuer. Returns where the issuer leads back to. */
async function begin({ issuer }: Pick<Bed, 'issuer'>, client: CookieClient): Promise<string> {
  const { status, headers } = await client.send('/login/oidc');
  expect(status).toBe(303);
  const back = await issuer.signIn(headers.location ?? '');
  return `${back.pathname}${back.search}`;
}

async function signIn(each: Bed, client = each.client): Promise<PageReply> {
  return await client.send(await begin(each, client), FROM_ISSUER);
}

describe('a console with a sign-in at an issuer', () => {
  it('CON-27 signs a person in, and loads the console by a page of its own, so that the browser sends the cookie', async () => {
    const each = await bed();
    expect((await each.client.send('/login')).body).toContain('Sign in with login.example.com');
    const reply = await signIn(each);
    expect([reply.status, reply.body]).toEqual([200, expect.stringContaining('content="0; url=/"')]);
    const [session = '', ended = ''] = reply.headers['set-cookie'] ?? [];
    expect(session).toMatch(/^kubenode-session-\d+=[^;]+; Path=\/; HttpOnly; SameSite=Strict$/);
    expect(reply.headers['set-cookie']?.join()).toMatch(/kubenode-oidc-\d+=; .*Max-Age=0/);
    expect(ended).not.toBe('');
    expect(JSON.parse((await each.client.send('/session')).body)).toMatchObject({ user: 'anna' });
    const events = await each.client.events();
    expect(await events.next()).toMatchObject({ data: { machines: { 'c/m-1': { p: 'Ready' } } } });
    events.close();
  });

  it('CON-27 offers no form for a token, and answers none', async () => {
    const { client } = await bed();
    expect((await client.send('/login')).body).not.toContain('<form');
    expect((await client.send('/login', { method: 'POST', form: { form: 'x', token: 'y' } })).status).toBe(
      405,
    );
  });

  it('CON-27 refuses a sign-in that another browser began, or that is repeated', async () => {
    const each = await bed();
    const victim = each.browser();
    const back = await begin(each, each.client);
    expect((await victim.send(back, FROM_ISSUER)).status).toBe(403);
    expect((await victim.send('/session')).status).toBe(401);
    // The victim began one, too: its own checks do not match.
    await begin(each, victim);
    expect((await victim.send(back, FROM_ISSUER)).status).toBe(403);
    expect(each.issuer.grants).toEqual([]);
    expect((await each.client.send(back, FROM_ISSUER)).status).toBe(200);
    expect((await each.client.send(back, FROM_ISSUER)).status).toBe(403);
  });

  it('states that a person denied, and that the issuer was wrong, without its words', async () => {
    const each = await bed();
    each.issuer.person = undefined;
    const denied = await signIn(each);
    each.issuer.person = { subject: 'anna', groups: [] };
    each.issuer.faults = { isForged: true };
    const forged = await signIn(each);
    for (const reply of [denied, forged]) {
      expect([reply.status, reply.body]).toEqual([
        403,
        expect.stringContaining('did not complete the sign-in'),
      ]);
      expect(reply.body).not.toContain('access_denied');
    }
    expect(each.log.lines.map(({ fields }) => fields['reason'])).toEqual(['IssuerRefused', 'IssuerRefused']);
  });

  it('CON-27 lets the API server judge the token, not the issuer', async () => {
    const each = await bed();
    each.tokens.people.get = () => undefined;
    const reply = await signIn(each);
    expect([reply.status, reply.body]).toEqual([
      401,
      expect.stringContaining('the API server does not accept'),
    ]);
    expect((await each.client.send('/session')).status).toBe(401);
  });

  it('CON-25 limits sign-ins that fail, also at an issuer that cannot be asked', async () => {
    const each = await bed();
    await each.issuer.close().catch(() => undefined);
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 22; attempt += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      statuses.push((await each.client.send('/login/oidc')).status);
    }
    expect([statuses[0], statuses[19], statuses[20], statuses[21]]).toEqual([502, 502, 429, 429]);
  });

  it('CON-25 limits sign-ins that are begun and come back wrong', async () => {
    const each = await bed();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 22; attempt += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      if (attempt < 20) await each.client.send('/login/oidc');
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      statuses.push((await each.client.send('/login/oidc/callback?state=x', FROM_ISSUER)).status);
    }
    expect([statuses[0], statuses[19], statuses[20], statuses[21]]).toEqual([403, 403, 429, 429]);
    expect((await each.client.send('/login/oidc')).status).toBe(429);
  });

  it('CON-27 leads a browser that has a session to the console, and begins no second one', async () => {
    const each = await bed();
    await signIn(each);
    const { status, headers } = await each.client.send('/login/oidc');
    expect([status, headers.location]).toEqual([303, '/']);
  });

  it('CON-21 has tokens, codes and secrets in no answer and no log line', async () => {
    const each = await bed();
    each.issuer.isRenewing = true;
    await signIn(each);
    each.issuer.faults = { nonce: 'of-another' };
    await signIn(each, each.browser());
    await each.client.send('/session');
    const texts = [...each.client.received, JSON.stringify(each.log.lines)].join('\n');
    expect(each.issuer.secrets.length).toBeGreaterThan(5);
    expect(each.issuer.secrets.filter((secret) => texts.includes(secret))).toEqual([]);
    expect(texts).not.toContain(clientSecret);
  });
});
