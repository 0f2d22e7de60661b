/** People who sign in to a console at an issuer, and what they see. */
import { expect } from 'vitest';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { type CookieClient, createCookieClient } from '../../console/login/cookie-client.ts';
import type { OidcIssuer } from '../../support/oidc-issuer.ts';

export async function signInAtIssuer(
  url: string,
  issuer: OidcIssuer,
  subject: string,
  groups: readonly string[],
): Promise<CookieClient> {
  issuer.person = { subject, groups };
  const client = createCookieClient(url);
  const { headers } = await client.send('/login/oidc');
  const back = await issuer.signIn(headers.location ?? '');
  const reply = await client.send(`${back.pathname}${back.search}`);
  expect([reply.status, reply.body]).toEqual([200, expect.stringContaining('Continue to the console')]);
  return client;
}

/** Returns what a page that is opened now is sent first. Undefined: it is not opened. */
export async function firstState(client: CookieClient): Promise<ConsoleState | undefined> {
  const events = await client.events();
  const state = events.status === 200 ? ((await events.next())?.data as ConsoleState | undefined) : undefined;
  events.close();
  return state;
}
