/** A hub of which some clusters are not read: every page of the console names them, and states nothing of the whole fleet. In a real browser. */
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import { PAGES, type PageName } from '../../../src/console/state/pages/address.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { clusterLine, stateOf } from '../../console/fixtures.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { type SettableSource, servePage, settable } from './served-page.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const FINDINGS = `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => target.join(' '))]))`;

const REFUSED = 'retrying, with the last state that was read: connection refused';
const READ = {
  test: clusterLine('test', { machines: { total: 2, ready: 2 } }),
  'eu-1': clusterLine('eu-1', { order: 1, machines: { total: 5, ready: 5 } }),
  'eu-2': clusterLine('eu-2', { order: 2 }),
};
const UNREAD = {
  ...READ,
  'eu-1': { ...READ['eu-1'], stale: REFUSED },
  'eu-2': { ...READ['eu-2'], stale: REFUSED },
};

/** The sentences of a page, and those while clusters are not read. */
const SENTENCES: readonly (readonly [page: PageName, all: string, limited: string])[] = [
  ['limits', 'No grants: nothing is being disturbed.', 'No grants in the clusters that are read.'],
  ['limits', 'No limit is in use.', 'No limit is in use in the clusters that are read.'],
  ['repairs', 'No repairs.', 'No repairs in the clusters that are read.'],
  ['rollouts', 'No rollouts.', 'No rollouts in the clusters that are read.'],
  ['health', 'Nothing waits for a person.', 'Nothing waits for a person in the clusters that are read.'],
];

function fleetWith(clusters: ConsoleState['clusters']): ConsoleState {
  return stateOf({ 'test/m-1': 'Ready', 'test/m-2': 'Ready' }, { clusters });
}

let browser: Browser;
let server: ConsoleServer;
let source: SettableSource;

describe.skipIf(noBrowserReason !== undefined)('the page of the console', () => {
  beforeAll(async () => {
    const folder = tempFolder('page');
    await buildConsolePage(folder);
    browser = await launchBrowser();
    source = settable(fleetWith(UNREAD));
    server = await servePage(folder, source);
  });
  beforeEach(() => source.set(fleetWith(UNREAD)));
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it.each(PAGES)(
    'CON-06 names the clusters that are not read above /%s and marks the numbers',
    async (name) => {
      const { page, problems } = await openPage(browser, `${server.url}#/${name}`);
      const text = `eu-1 and eu-2 (${REFUSED})`;
      await page.locator('#not-read').getByText(text).waitFor();
      expect(await numbers(page)).toEqual([
        'Ready 7/7? not all is read',
        'Changing 0? not all is read',
        'Repairs 0? not all is read',
        'Waits for you 0? not all is read',
      ]);
      await page.evaluate(AXE);
      expect(await page.evaluate(FINDINGS)).toEqual([]);
      source.set(fleetWith(READ));
      await page.locator('#not-read').waitFor({ state: 'detached' });
      expect(await numbers(page)).toEqual(['Ready 7/7', 'Changing 0', 'Repairs 0', 'Waits for you 0']);
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  it.each(SENTENCES)(
    'CON-06 states on /%s "%s" only while every cluster is read',
    async (name, all, limited) => {
      const { page, problems } = await openPage(browser, `${server.url}#/${name}`);
      await page.getByText(limited, { exact: true }).waitFor();
      expect(await page.getByText(all, { exact: true }).count()).toBe(0);
      source.set(fleetWith(READ));
      await page.getByText(all, { exact: true }).waitFor();
      expect(problems).toEqual([]);
      await page.context().close();
    },
  );

  it('CON-06 does not call a machine deleted whose cluster is not read', async () => {
    const { page, problems } = await openPage(browser, `${server.url}#/machines/eu-1/m-1`);
    const dialog = page.getByRole('dialog', { name: 'eu-1/m-1' });
    await dialog.getByText(`! last state: ${REFUSED}`).waitFor();
    expect(await dialog.getByText('This machine was deleted.').count()).toBe(0);
    source.set(fleetWith(READ));
    await dialog.getByText('This machine was deleted.').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

function numbers(page: Page): Promise<readonly string[]> {
  return page.getByRole('list', { name: 'The fleet in numbers' }).getByRole('link').allTextContents();
}
