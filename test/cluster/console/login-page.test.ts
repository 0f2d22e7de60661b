/** The sign-in and the sign-out in a real browser, whose rules for cookies, forms and headers no other client has. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { type LoginBed, startLoginConsole } from '../../console/login/bed.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';

const folder = tempFolder('page');
const ANNA = 'token-of-anna';
let browser: Browser;

async function open(url: string): Promise<Page> {
  const { page } = await openPage(browser, url);
  onTestFinished(() => page.context().close());
  return page;
}

async function start(): Promise<LoginBed> {
  return await startLoginConsole({ [ANNA]: { name: 'anna', machines: ['m-1'] } }, {}, folder);
}

async function signIn(page: Page, token: string): Promise<void> {
  await page.getByLabel('Your token for the API server').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

describe.skipIf(noBrowserReason !== undefined)('the sign-in in a browser', () => {
  beforeAll(async () => {
    await buildConsolePage(folder);
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('CON-20 leads to the form, refuses a wrong token, shows the machines with a right one, and signs out', async () => {
    const { server } = await start();
    const page = await open(server.url);
    expect(new URL(page.url()).pathname).toBe('/login');
    await signIn(page, 'wrong');
    await page.getByRole('alert').getByText('does not accept this token').waitFor();
    await signIn(page, ANNA);
    await page.getByRole('button', { name: 'm-1, Ready' }).waitFor();
    await page.getByText('anna').waitFor();
    expect(await page.evaluate('document.cookie')).toBe('');
    await page.reload();
    await page.getByRole('button', { name: 'm-1, Ready' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You signed out.').waitFor();
    await page.goto(server.url);
    expect(new URL(page.url()).pathname).toBe('/login');
  });

  it('CON-23 leads an open page to the sign-in, with the reason, when its session ends', async () => {
    const { server, tokens, reread } = await start();
    const page = await open(server.url);
    await signIn(page, ANNA);
    await page.getByRole('button', { name: 'm-1, Ready' }).waitFor();
    tokens.people.delete(ANNA);
    await reread();
    await page.getByText('the API server does not accept your token').waitFor();
    expect(new URL(page.url()).pathname).toBe('/login');
  });

  it('CON-24 keeps a session out of reach of a page of another site, and of its frames', async () => {
    const { server, tokens } = await start();
    const context = await browser.newContext();
    onTestFinished(() => context.close());
    const page = await context.newPage();
    await page.goto(server.url);
    await signIn(page, ANNA);
    await page.getByRole('button', { name: 'm-1, Ready' }).waitFor();
    // Another site, in the same browser.
    const { server: evil } = await start();
    const other = await context.newPage();
    await other.goto(`${evil.url.replace('127.0.0.1', 'localhost')}login`);
    const results = await other.evaluate(`Promise.all([
      fetch('${server.url}session', { credentials: 'include' }).then(() => 'read', () => 'refused'),
      fetch('${server.url}logout', { method: 'POST', credentials: 'include', mode: 'no-cors' }).then(() => 'sent', () => 'refused'),
    ])`);
    expect(results).toEqual(['refused', 'refused']);
    await page.reload();
    await page.getByRole('button', { name: 'm-1, Ready' }).waitFor();
    expect(tokens.clients()).toBeGreaterThan(0);
  });
});
