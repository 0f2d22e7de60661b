/** Ages on the page of the console, and the times that they are of. In a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { PICTURE_STATE } from './picture-state.ts';
import { servePage, settable } from './served-page.ts';

/** An age in a text of the page, such as 7m, that is not in the text of a time. */
const AGES_WITHOUT_TIME = `
  (() => {
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    const found = [];
    while (texts.nextNode()) {
      const { data, parentElement } = texts.currentNode;
      if (/\\b\\d+[smhd]\\b/.test(data) && !parentElement.closest('time[title]')) found.push(data);
    }
    return found;
  })()`;

const TIMES_OF_DETAIL = `[...document.querySelectorAll('.detail time')].map(({ title }) => title)`;

let browser: Browser;
let server: ConsoleServer;

describe.skipIf(noBrowserReason !== undefined)('the page of the console', () => {
  beforeAll(async () => {
    const folder = tempFolder('page');
    await buildConsolePage(folder);
    browser = await launchBrowser();
    const cordoned = { p: 'Ready', z: 'a', s: 1_772_442_000, c: { s: 1_772_445_000 } };
    const machines = { ...PICTURE_STATE.machines, 'prod/prod-a-01': cordoned };
    server = await servePage(folder, settable({ ...PICTURE_STATE, machines }));
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('shows the time of each age where the pointer rests', async () => {
    const { page, problems } = await openPage(browser, server.url);
    const prod = page.getByRole('article', { name: 'Cluster prod' });
    const since = prod.getByTitle('2026-03-02T09:46:00Z', { exact: true });
    await since.waitFor();
    expect(await since.getAttribute('datetime')).toBe('2026-03-02T09:46:00Z');
    await page.getByRole('link', { name: 'Repairs', exact: true }).click();
    const repair = page.getByRole('article', { name: 'Repair of prod-b-08 in prod' });
    expect(await repair.getByTitle('2026-03-02T09:58:40Z').textContent()).toMatch(/^\d+[smhd] ago$/);
    expect(await page.evaluate(AGES_WITHOUT_TIME)).toEqual([]);
    await page.getByRole('link', { name: 'Fleet', exact: true }).click();
    await page.getByRole('button', { name: 'prod-a-01, Ready, cordoned by others' }).click();
    await page.getByRole('dialog', { name: 'prod/prod-a-01' }).waitFor();
    expect(await page.evaluate(TIMES_OF_DETAIL)).toEqual(['2026-03-02T09:00:00Z', '2026-03-02T09:50:00Z']);
    expect(await page.evaluate(AGES_WITHOUT_TIME)).toEqual([]);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
