import { describe, expect, it } from 'vitest';
import { SESSION_LIMITS } from '../../../src/console/login/sessions.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { KubeError } from '../../../src/kube/client/errors.ts';
import { eventually } from '../../support/eventually.ts';
import { virtualClock } from '../../support/virtual-clock.ts';
import type { EventReader } from '../server/event-reader.ts';
import { type LoginBed, type Person, startLoginConsole } from './bed.ts';
import { type CookieClient, createCookieClient } from './cookie-client.ts';

const ANNA = 'token-of-anna';
const BEN = 'token-of-ben';
const people = (): Record<string, Person> => ({
  [ANNA]: { name: 'anna', machines: ['m-1', 'm-2'] },
  [BEN]: { name: 'ben', machines: undefined },
});

async function signedIn({ server }: LoginBed, token: string): Promise<CookieClient> {
  const client = createCookieClient(server.url);
  expect(await client.signIn(token)).toMatchObject({ status: 303, headers: { location: '/' } });
  return client;
}

async function machinesOf(events: EventReader): Promise<readonly string[]> {
  const event = await events.next();
  const state = event?.data as ConsoleState | undefined;
  return Object.keys(state?.machines ?? {});
}

describe('a console with a login', () => {
  it.each([
    ['/', 303],
    ['/events', 401],
    ['/page.js', 401],
    ['/session', 401],
    ['/machines/c/m-1', 401],
    ['/login', 200],
    ['/login.css', 200],
    ['/healthz', 200],
    ['/readyz', 200],
  ])('CON-20 answers %s without a session by %i', async (path, status) => {
    const { server, tokens } = await startLoginConsole(people());
    const client = createCookieClient(server.url);
    const reply = await client.send(path);
    expect(reply.status).toBe(status);
    expect(reply.body).not.toContain('page</p>');
    expect(reply.headers).toMatchObject({ 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' });
    expect(tokens.clients()).toBe(0);
  });

  it('CON-20 shows a person the machines that this person may read, and who is signed in', async () => {
    const bed = await startLoginConsole(people());
    const anna = await signedIn(bed, ANNA);
    expect((await anna.send('/')).body).toBe('<p>page</p>');
    const events = await anna.events();
    expect(await machinesOf(events)).toEqual(['c/m-1', 'c/m-2']);
    events.close();
    expect(JSON.parse((await anna.send('/session')).body)).toMatchObject({ user: 'anna' });
    expect((await anna.send('/login')).status).toBe(303);
  });

  it('CON-22 shows nothing of one person to another, and names what is forbidden', async () => {
    const bed = await startLoginConsole(people());
    const [anna, ben] = [await signedIn(bed, ANNA), await signedIn(bed, BEN)];
    const events = await anna.events();
    await machinesOf(events);
    const refused = await ben.send('/events');
    expect([refused.status, refused.body]).toEqual([503, expect.stringContaining('User "ben" cannot list')]);
    expect(refused.body).not.toContain('m-1');
    expect(JSON.parse((await anna.send('/machines/c/m-1')).body)).toEqual({ components: [], conditions: [] });
    expect((await anna.send('/machines/c/m-3')).body).toBe('null');
    // Without an open fleet nothing is known, which is not an answer about the machine.
    expect((await ben.send('/machines/c/m-1')).status).toBe(503);
    events.close();
  });

  it('CON-22 reads once for three sessions with the same token, until the last of them ends', async () => {
    const bed = await startLoginConsole(people());
    const clients = [await signedIn(bed, ANNA), await signedIn(bed, ANNA), await signedIn(bed, ANNA)];
    const pages = await Promise.all(clients.map((client) => client.events()));
    for (const page of pages) expect(await machinesOf(page)).toHaveLength(2); // oxlint-disable-line no-await-in-loop -- one page after the other
    expect(bed.tokens.clients()).toBe(1);
    for (const client of clients) await client.send('/logout', { method: 'POST' }); // oxlint-disable-line no-await-in-loop -- one after the other
    for (const page of pages) expect(await page.next()).toBeUndefined(); // oxlint-disable-line no-await-in-loop -- one page after the other
    await eventually(() => Promise.resolve(bed.tokens.clients() === 0 || undefined), 'a client stays open');
  });

  it('CON-23 ends the pages at once when a right was taken away, and shows the rest when they come back', async () => {
    const bed = await startLoginConsole(people());
    const anna = await signedIn(bed, ANNA);
    const events = await anna.events();
    await machinesOf(events);
    bed.tokens.people.set(ANNA, { name: 'anna', machines: undefined });
    await bed.reread();
    expect(await events.next()).toBeUndefined();
    expect((await anna.send('/events')).body).toContain('User "anna" cannot list');
    expect((await anna.send('/session')).status).toBe(200);
    bed.tokens.people.set(ANNA, { name: 'anna', machines: ['m-3'] });
    const again = await anna.events();
    expect(await machinesOf(again)).toEqual(['c/m-3']);
    again.close();
  });

  it('CON-23 shows nothing once the token is revoked, ends the session fifteen seconds later, and states why', async () => {
    const clock = virtualClock();
    const bed = await startLoginConsole(people(), { clock });
    const anna = await signedIn(bed, ANNA);
    const events = await anna.events();
    await machinesOf(events);
    bed.tokens.people.delete(ANNA);
    await bed.reread();
    expect(await events.next()).toBeUndefined();
    expect((await anna.send('/events')).body).toContain('does not accept your token: trying again');
    await clock.advance(15_000);
    expect((await anna.send('/events')).body).toContain('the session has ended');
    expect((await anna.send('/events')).status).toBe(401);
    expect((await anna.send('/login')).body).toContain(
      'Your session ended: the API server does not accept your token.',
    );
  });

  it('CON-23 keeps the session when the API server refuses the token for a moment only', async () => {
    const clock = virtualClock();
    const bed = await startLoginConsole(people(), { clock });
    const anna = await signedIn(bed, ANNA);
    const person = bed.tokens.people.get(ANNA) as Person;
    bed.tokens.people.delete(ANNA);
    expect((await anna.send('/events')).status).toBe(503);
    await clock.advance(14_000);
    bed.tokens.people.set(ANNA, person);
    const events = await anna.events();
    expect(await machinesOf(events)).toHaveLength(2);
    events.close();
  });

  it('CON-23 ends a session whose token is another person now', async () => {
    const bed = await startLoginConsole(people());
    const anna = await signedIn(bed, ANNA);
    bed.tokens.people.set(ANNA, { name: 'carl', machines: ['m-9'] });
    const reply = await anna.send('/events');
    expect([reply.status, reply.body]).toEqual([503, 'the session has ended\n']);
    expect((await anna.send('/session')).status).toBe(401);
  });

  it.each([
    ['from a page of another site', { origin: 'https://evil.example' }, 403],
    ['from a sandboxed page', { origin: 'null' }, 403],
    ['without Origin', { origin: undefined }, 403],
    ['that another site caused', { 'sec-fetch-site': 'cross-site' }, 403],
    ['without the cookie of the form', { cookie: undefined }, 403],
    ['under the name of another site', { host: 'evil.example' }, 421],
    ['that is not a form', { 'content-type': 'text/plain' }, 400],
  ])('CON-24 refuses a sign-in %s, without a question to the API server', async (_, headers, status) => {
    const { server, tokens } = await startLoginConsole(people());
    const client = createCookieClient(server.url);
    expect((await client.signIn(ANNA, { headers })).status).toBe(status);
    expect([tokens.reviews(), client.cookies.size]).toEqual([0, 1]);
  });

  it('CON-24 refuses a sign-in with the form of another browser', async () => {
    const { server, tokens } = await startLoginConsole(people());
    const [attacker, victim] = [createCookieClient(server.url), createCookieClient(server.url)];
    const form = /name="form" value="(?<value>[^"]*)"/.exec((await attacker.send('/login')).body)?.groups?.[
      'value'
    ];
    await victim.send('/login');
    const reply = await victim.send('/login', { method: 'POST', form: { form: form ?? '', token: BEN } });
    expect([reply.status, tokens.reviews()]).toEqual([403, 0]);
  });

  it('CON-24 gives each sign-in a new session, and ends the one before', async () => {
    const bed = await startLoginConsole(people());
    const client = await signedIn(bed, ANNA);
    const [[name, first]] = [...client.cookies] as [[string, string]];
    const { body } = await createCookieClient(bed.server.url).send('/login');
    expect(body).not.toContain(first);
    const fixed = createCookieClient(bed.server.url);
    fixed.cookies.set(name, 'an-id-that-an-attacker-chose');
    await fixed.signIn(BEN);
    expect(fixed.cookies.get(name)).not.toBe('an-id-that-an-attacker-chose');
    // The same browser signs in as another person.
    const form = { form: 'an-id-that-is-in-both', token: BEN };
    client.cookies.set(name.replace('session', 'login'), form.form);
    expect((await client.send('/login', { method: 'POST', form })).status).toBe(303);
    const before = createCookieClient(bed.server.url);
    before.cookies.set(name, first);
    expect((await before.send('/session')).status).toBe(401);
  });

  it('CON-24 signs out by a request of its own page only', async () => {
    const bed = await startLoginConsole(people());
    const anna = await signedIn(bed, ANNA);
    const events = await anna.events();
    await machinesOf(events);
    expect((await anna.send('/logout')).status).toBe(404);
    for (const headers of [
      { origin: 'https://evil.example' },
      { origin: undefined },
      { 'sec-fetch-site': 'cross-site' },
    ]) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await anna.send('/logout', { method: 'POST', headers })).status).toBe(403);
    }
    expect((await anna.send('/session')).status).toBe(200);
    expect((await anna.send('/logout', { method: 'POST' })).headers.location).toBe('/login');
    expect(await events.next()).toBeUndefined();
    expect((await anna.send('/session')).status).toBe(401);
    expect((await anna.send('/login')).body).toContain('You signed out.');
  });

  it('CON-23 opens no fleet for a person who signed out while the API server was asked', async () => {
    const bed = await startLoginConsole(people());
    const anna = await signedIn(bed, ANNA);
    const [reviews, opened] = [bed.tokens.reviews(), bed.tokens.opened()];
    const asked = Promise.withResolvers<void>();
    bed.tokens.held = asked.promise;
    const page = anna.send('/events');
    await eventually(async () => (bed.tokens.reviews() > reviews ? true : undefined), 'nobody was asked');
    await anna.send('/logout', { method: 'POST' });
    asked.resolve();
    expect((await page).body).toContain('the session has ended');
    // One to ask who it is, and none to read a fleet.
    expect(bed.tokens.opened() - opened).toBe(1);
  });

  it('leads a person who follows a link from another site back to the console, so that the browser sends the cookie', async () => {
    const bed = await startLoginConsole(people());
    const reply = await createCookieClient(bed.server.url).send('/', {
      headers: { 'sec-fetch-site': 'cross-site' },
    });
    expect([reply.status, reply.body]).toEqual([200, expect.stringContaining('content="0; url=/"')]);
  });

  it('CON-25 asks the API server for few of a thousand wrong tokens, and accepts a right one later', async () => {
    const clock = virtualClock();
    const bed = await startLoginConsole(people(), { clock });
    const client = createCookieClient(bed.server.url);
    const { body } = await client.send('/login');
    const form = /name="form" value="(?<value>[^"]*)"/.exec(body)?.groups?.['value'] ?? '';
    const statuses = new Map<number, number>();
    for (let attempt = 0; attempt < 1000; attempt += 1) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      const { status } = await client.send('/login', {
        method: 'POST',
        form: { form, token: `wrong-${attempt}` },
      });
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
    }
    expect(Object.fromEntries(statuses)).toEqual({ 401: 20, 429: 980 });
    // One is the invented token.
    expect(bed.tokens.reviews()).toBe(21);
    const early = await client.send('/login', { method: 'POST', form: { form, token: ANNA } });
    expect([early.status, early.headers['retry-after']]).toEqual([429, '5']);
    await clock.advance(5000);
    expect((await client.send('/login', { method: 'POST', form: { form, token: ANNA } })).status).toBe(303);
  });

  it('CON-25 refuses a person too many, and gives the place of a fleet without a page to another', async () => {
    const bed = await startLoginConsole(
      { ...people(), 'token-of-carl': { name: 'carl', machines: ['m-3'] } },
      { maxFleets: 1 },
    );
    const [anna, carl] = [await signedIn(bed, ANNA), await signedIn(bed, 'token-of-carl')];
    const page = await anna.events();
    await machinesOf(page);
    expect((await carl.send('/events')).body).toContain('too many people have the console open');
    page.close();
    const other = await eventually(async () => {
      const events = await carl.events();
      return events.status === 200 ? events : undefined;
    }, 'the place is not given to another');
    expect(await machinesOf(other)).toEqual(['c/m-3']);
    other.close();
  });

  it('CON-25 refuses a session too many, with a reason', async () => {
    const bed = await startLoginConsole(people(), { sessionLimits: { ...SESSION_LIMITS, total: 1 } });
    await signedIn(bed, ANNA);
    const reply = await createCookieClient(bed.server.url).signIn(BEN);
    expect([reply.status, reply.body]).toEqual([
      503,
      expect.stringContaining('too many people are signed in'),
    ]);
  });

  it('CON-25 ends an idle session, and the fleet that was read for it', async () => {
    const clock = virtualClock();
    const bed = await startLoginConsole(people(), { clock });
    const anna = await signedIn(bed, ANNA);
    const events = await anna.events();
    await machinesOf(events);
    events.close();
    await eventually(async () => {
      await clock.advance(60_000);
      return bed.tokens.clients() === 0 || undefined;
    }, 'the fleet is still read');
    expect((await anna.send('/session')).status).toBe(200);
    await clock.advance(30 * 60_000);
    expect((await anna.send('/session')).status).toBe(401);
    expect((await anna.send('/login')).body).toContain('it was not used for 30 minutes');
  });

  it('CON-21 refuses to work with an API server that accepts every token', async () => {
    const bed = await startLoginConsole(people());
    bed.tokens.people.get = () => ({ name: 'system:admin', machines: [] });
    const client = createCookieClient(bed.server.url);
    const reply = await client.signIn('anything');
    expect([reply.status, reply.body]).toEqual([502, expect.stringContaining('does not read tokens')]);
    expect(bed.log.lines.at(-1)).toMatchObject({ level: 'warn', fields: { reason: 'TokensNotJudged' } });
  });

  it('CON-21 refuses a user without a name', async () => {
    const bed = await startLoginConsole({ ...people(), odd: { name: 'system:anonymous', machines: [] } });
    expect((await createCookieClient(bed.server.url).signIn('odd')).status).toBe(502);
  });

  it('names neither servers nor causes to a person who is not signed in', async () => {
    const bed = await startLoginConsole(people());
    bed.tokens.failing = new KubeError('Unreachable', 'connect ECONNREFUSED 10.0.0.1:6443');
    const client = createCookieClient(bed.server.url);
    const reply = await client.signIn(ANNA);
    expect(reply.status).toBe(502);
    expect(client.received.join('\n')).not.toContain('10.0.0.1');
    expect(bed.log.lines.at(-1)?.fields).toMatchObject({
      reason: 'Unreachable',
      error: expect.stringContaining('10.0.0.1') as string,
    });
  });

  it('CON-21 has the token in no answer and no log line', async () => {
    const bed = await startLoginConsole(people());
    const client = createCookieClient(bed.server.url);
    await client.signIn('wrong-token-of-somebody');
    await client.signIn('wrong token of somebody');
    await client.signIn(ANNA);
    const events = await client.events();
    client.received.push(JSON.stringify((await events.next())?.data));
    events.close();
    bed.tokens.people.delete(ANNA);
    await bed.reread();
    for (const path of ['/events', '/session', '/', '/login']) await client.send(path); // oxlint-disable-line no-await-in-loop -- one after the other
    await client.send('/logout', { method: 'POST' });
    const texts = [...client.received, JSON.stringify(bed.log.lines)].join('\n');
    expect(bed.log.lines.length).toBeGreaterThan(2);
    expect(texts).toContain('anna');
    expect(texts).not.toMatch(/token-of-anna|wrong.token.of/);
  });

  it('CON-24 knows its public address over TLS, with a cookie for it alone', async () => {
    const bed = await startLoginConsole(people(), { publicUrl: new URL('https://console.example.com') });
    const client = createCookieClient(bed.server.url, 'console.example.com', 'https');
    const reply = await client.signIn(ANNA);
    expect(reply.headers['set-cookie']?.[0]).toMatch(
      /^__Host-kubenode-session=[^;]+; Path=\/; HttpOnly; SameSite=Strict; Secure$/,
    );
    expect((await client.send('/session')).status).toBe(200);
    // Over another name of the console, the cookie is of no use.
    expect((await client.send('/session', { headers: { host: 'localhost' } })).status).toBe(401);
    expect((await client.send('/session', { headers: { host: '10.2.3.4:8484' } })).status).toBe(421);
  });

  it('CON-24 shows no form and reads no token that came without TLS through a proxy, and tells browsers to use TLS', async () => {
    const bed = await startLoginConsole(people(), { publicUrl: new URL('https://console.example.com') });
    const client = createCookieClient(bed.server.url, 'console.example.com', 'https');
    const headers = { 'x-forwarded-proto': 'http' };
    const shown = await client.send('/login', { headers });
    expect([shown.status, shown.headers.location, shown.body]).toEqual([
      303,
      'https://console.example.com',
      '',
    ]);
    expect((await client.send('/login', { method: 'POST', headers, form: { token: ANNA } })).status).toBe(
      303,
    );
    expect(bed.tokens.reviews()).toBe(0);
    const secure = await client.send('/login', { headers: { 'x-forwarded-proto': 'https' } });
    expect([secure.status, secure.headers['strict-transport-security']]).toEqual([200, 'max-age=31536000']);
  });

  it('answers only GET and HEAD beside the sign-in', async () => {
    const bed = await startLoginConsole(people());
    const anna = await signedIn(bed, ANNA);
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      // oxlint-disable-next-line no-await-in-loop -- one after the other
      expect((await anna.send('/events', { method })).status).toBe(405);
    }
    expect((await anna.send('/', { method: 'HEAD' })).status).toBe(200);
  });

  it('CON-25 refuses a form that is too long', async () => {
    const { server, tokens } = await startLoginConsole(people());
    const reply = await createCookieClient(server.url).signIn('x'.repeat(70_000));
    expect([reply.status, tokens.reviews()]).toEqual([400, 0]);
  });
});
