/** The page of the console in a real browser, beside a server whose state the tests choose: large fleets, and connections that end. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { clusterLine, stateOf } from '../../console/fixtures.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { servePage, settable } from './served-page.ts';

const folder = tempFolder('page');
let browser: Browser;

function fleetOf(phases: Readonly<Record<string, string>>): ConsoleState {
  return stateOf(phases, { clusters: { prod: clusterLine('prod') } });
}

/** Counts the tiles whose attributes or text are written from now on. */
const COUNT_REDRAWN = `
  window.redrawn = new Set();
  new MutationObserver((records) => {
    for (const { target } of records) {
      const tile = (target.nodeType === 1 ? target : target.parentElement).closest('.tile');
      if (tile) window.redrawn.add(tile.dataset.machine);
    }
  }).observe(document.querySelector('#fleet'), { attributes: true, characterData: true, childList: true, subtree: true });`;

describe.skipIf(noBrowserReason !== undefined)('the page of the console', () => {
  beforeAll(async () => {
    await buildConsolePage(folder);
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());

  it('CON-05 draws 10,000 machines, and of a change only the tile that changed', async () => {
    const phases = Object.fromEntries(
      Array.from({ length: 10_000 }, (_, index) => [`prod/node-${String(index).padStart(5, '0')}`, 'Ready']),
    );
    const source = settable(fleetOf(phases));
    const server = await servePage(folder, source);
    const { page, problems } = await openPage(browser, server.url);
    await page.locator('.tile').last().waitFor({ state: 'attached' });
    expect(await page.locator('.tile').count()).toBe(10_000);
    await page.evaluate(COUNT_REDRAWN);
    source.set(fleetOf({ ...phases, 'prod/node-04711': 'NotReady' }));
    await page.getByRole('button', { name: 'node-04711, NotReady' }).waitFor({ state: 'attached' });
    expect(await page.evaluate('[...window.redrawn]')).toEqual(['prod/node-04711']);
    expect(problems).toEqual([]);
    await page.context().close();
    await server.close();
  });

  it('tells what to do while its script is not there', async () => {
    const server = await servePage(folder, settable(fleetOf({ 'prod/m-1': 'Ready' })));
    const { page } = await openPage(browser, 'about:blank');
    await page.route('**/page.js', (route) => route.abort());
    await page.goto(server.url);
    const text = page.getByText('If this stays, reload the page');
    await text.waitFor();
    await page.unroute('**/page.js');
    await page.reload();
    await page.getByRole('button', { name: 'm-1, Ready' }).waitFor();
    expect(await text.count()).toBe(0);
    await page.context().close();
    await server.close();
  });

  it('shows that the connection is lost, keeps the last state, and connects again by itself', async () => {
    const first = await servePage(folder, settable(fleetOf({ 'prod/m-1': 'Ready' })));
    const { page } = await openPage(browser, first.url);
    await page.getByRole('button', { name: 'm-1, Ready' }).waitFor();
    await page.getByText('live', { exact: false }).first().waitFor();
    await first.close();
    await page.getByRole('alert').getByText('connection lost').waitFor();
    expect(await page.getByRole('button', { name: 'm-1, Ready' }).count()).toBe(1);
    const second = await servePage(
      folder,
      settable(fleetOf({ 'prod/m-1': 'Updating' })),
      Number(new URL(first.url).port),
    );
    await page.getByRole('button', { name: 'm-1, Updating' }).waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    await page.context().close();
    await second.close();
  });
});
