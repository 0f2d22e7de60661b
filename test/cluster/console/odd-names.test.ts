/** What people and machines write is shown as text, however odd: the page of the console in a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import { type ConsoleState, NO_STATE, type RolloutCard } from '../../../src/console/state/state.ts';
import { clusterLine } from '../../console/fixtures.ts';
import { launchBrowser, noBrowserReason, openPage, type WatchedPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { servePage, settable } from './served-page.ts';

const folder = tempFolder('page');
let browser: Browser;
let server: ConsoleServer;
let watched: WatchedPage;

/** As long as the API server permits a name: labels of 63 characters with dots between them. */
const LONG_NAME = Array.from({ length: 4 }, () => 'n'.repeat(63))
  .join('.')
  .slice(0, 253);
const DOTTED_NAME = 'node-1.eu-west.example.com';
const UNICODE_ZONE = 'zürich-机房-א';
/** If it were read as HTML, each part would leave an element or a name in the page. */
const HTML = `<img src=x onerror="window.injected=1"><script>window.injected=1</script></script> & &lt;b&gt;"'`;

/** Names and elements that HTML in a text would leave. */
const INJECTED = `[window.injected ?? 0, document.querySelectorAll('img, b, script:not([src])').length]`;

/** Cards whose content is wider than they are, and the page itself if it is. */
const TOO_WIDE = `
  [document.documentElement, ...document.querySelectorAll('.card')]
    .filter((element) => element.scrollWidth > element.clientWidth)
    .map((element) => element.ariaLabel ?? element.className)`;

const rollout: RolloutCard = {
  cluster: 'prod',
  set: 'general',
  phase: HTML,
  state: 'Running',
  because: HTML,
  changes: [HTML],
  batch: { place: HTML, size: 1, updated: 0, failed: 0, soakUntil: HTML },
  selected: 1,
  updated: 0,
  failed: 0,
  unblock: HTML,
  inWork: [{ machine: DOTTED_NAME, state: HTML, because: HTML }],
};

const state: ConsoleState = {
  ...NO_STATE,
  clusters: { prod: clusterLine('prod', { stage: HTML, because: HTML, stale: HTML }) },
  machines: {
    [`prod/${DOTTED_NAME}`]: {
      p: 'NotReady',
      z: HTML,
      v: HTML,
      why: { reason: HTML, because: HTML, unblock: HTML },
    },
    [`prod/${LONG_NAME}`]: { p: 'Updating', z: UNICODE_ZONE, c: { g: HTML } },
  },
  rollouts: { 'prod/general': rollout },
  limits: {
    one: { cluster: 'prod', policy: 'zones', rule: HTML, counts: UNICODE_ZONE, used: 1, limit: 2 },
  },
  grants: {
    [`prod/${DOTTED_NAME}`]: {
      cluster: 'prod',
      machine: DOTTED_NAME,
      id: HTML,
      action: HTML,
      state: 'Granted',
      holder: HTML,
      since: HTML,
    },
  },
  notes: { [HTML]: { text: HTML, bad: true } },
};

describe.skipIf(noBrowserReason !== undefined)('the page of the console', () => {
  beforeAll(async () => {
    await buildConsolePage(folder);
    browser = await launchBrowser();
    server = await servePage(folder, settable(state));
    watched = await openPage(browser, server.url);
    await watched.page.locator('.tile').nth(1).waitFor();
  });
  afterEach(async () => {
    await watched.page.goto(`${server.url}#/fleet`);
    await watched.page.getByRole('dialog').waitFor({ state: 'detached' });
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('shows HTML in every text as it was written, and makes no element of it', async () => {
    const { page, problems } = watched;
    await page.locator('.tile').first().click();
    const dialog = page.getByRole('dialog', { name: `prod/${DOTTED_NAME}` });
    await dialog.getByText(HTML).first().waitFor();
    expect(await page.evaluate(INJECTED)).toEqual([0, 0]);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    for (const id of ['rollouts', 'limits', 'releases', 'health', 'fleet']) {
      // oxlint-disable no-await-in-loop -- one page
      await page.goto(`${server.url}#/${id}`);
      await page.locator(`#${id}`).waitFor();
      expect([id, await page.locator(`#${id}`).getByText(HTML).count()]).not.toEqual([id, 0]);
      expect(await page.evaluate(INJECTED)).toEqual([0, 0]);
      expect([id, await page.evaluate(TOO_WIDE)]).toEqual([id, []]);
      // oxlint-enable no-await-in-loop
    }
    expect(problems).toEqual([]);
  });

  it('shows a machine with a name of 253 characters, whose detail opens and returns the focus to its tile', async () => {
    const { page } = watched;
    expect(LONG_NAME).toHaveLength(253);
    await page.getByRole('group', { name: `Zone ${UNICODE_ZONE}: 1 Updating` }).waitFor();
    const tile = page.getByRole('button', { name: `${LONG_NAME}, Updating, cordoned by kubenode` });
    expect(await tile.textContent()).toBe('C');
    await tile.click();
    const dialog = page.getByRole('dialog', { name: `prod/${LONG_NAME}` });
    await dialog.getByText(`cordoned by kubenode for grant ${HTML}`).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.dataset.machine')).toBe(`prod/${LONG_NAME}`);
  });

  it('needs no scrolling to the side, however long a name or a text is', async () => {
    const { page } = watched;
    await page.locator('.tile').nth(1).click();
    expect(await page.evaluate(TOO_WIDE)).toEqual([]);
    await page.setViewportSize({ width: 400, height: 900 });
    expect(await page.evaluate(TOO_WIDE)).toEqual([]);
  });
});
