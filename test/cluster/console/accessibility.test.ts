/** Who can use the page of the console: with the keyboard alone, in both themes, without motion. In a real browser. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import type { MachineTile, RowsByKey } from '../../../src/console/state/state.ts';
import { clusterLine, stateOf } from '../../console/fixtures.ts';
import { launchBrowser, noBrowserReason, openPage, type WatchedPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { servePage, settable } from './served-page.ts';

const folder = tempFolder('page');
const machines: RowsByKey<MachineTile> = Object.fromEntries(
  ['a', 'b'].flatMap((z) => [1, 2, 3].map((index) => [`prod/node-${z}${index}`, { p: 'Ready', z }])),
);
let browser: Browser;
let server: ConsoleServer;
let watched: WatchedPage | undefined;

describe.skipIf(noBrowserReason !== undefined)('the page of the console', () => {
  beforeAll(async () => {
    await buildConsolePage(folder);
    browser = await launchBrowser();
    server = await servePage(
      folder,
      settable(stateOf({}, { clusters: { prod: clusterLine('prod') }, machines })),
    );
  });
  afterEach(async () => {
    await watched?.page.context().close();
    watched = undefined;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('can be used with the keyboard alone: one tile is in the tab order, arrows move, Enter opens, Escape closes', async () => {
    // So narrow that the zones are below each other.
    const page = await open({ viewport: { width: 500, height: 900 } });
    await tile(page, 'node-a1').waitFor();
    expect(await page.locator('.tile[tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the fleet');
    await page.keyboard.press('Enter');
    expect(await focused(page)).toMatch(/^node-a1, /);
    await page.keyboard.press('ArrowRight');
    expect(await focused(page)).toMatch(/^node-a2, /);
    await page.keyboard.press('ArrowDown');
    expect(await focused(page)).toMatch(/^node-b2, /);
    await page.keyboard.press('End');
    expect(await focused(page)).toMatch(/^node-b3, /);
    await page.keyboard.press('Home');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: 'prod/node-a1' });
    await dialog.getByText('Why this waits').waitFor();
    expect(await focused(page)).toBe('prod/node-a1');
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(await focused(page)).toMatch(/^node-a1, /);
    expect(problems()).toEqual([]);
  });

  it('closes the detail by Escape wherever the focus is', async () => {
    const page = await open();
    const dialog = page.getByRole('dialog', { name: 'prod/node-a1' });
    for (const elsewhere of [tile(page, 'node-a1'), page.getByRole('heading', { name: 'kubenode' })]) {
      // oxlint-disable no-await-in-loop -- one page
      await tile(page, 'node-a1').click();
      await dialog.waitFor();
      await elsewhere.click();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      // oxlint-enable no-await-in-loop
    }
    expect(await focused(page)).toMatch(/^node-a1, /);
  });

  it.each(['light', 'dark'] as const)(
    'can be read in the %s theme: contrast of at least 4.5',
    async (theme) => {
      const page = await open({ colorScheme: theme });
      await tile(page, 'node-a1').waitFor();
      const ratios = await page.evaluate<readonly (readonly [string, number])[]>(CONTRASTS);
      expect(ratios.length).toBeGreaterThan(5);
      expect(ratios.filter(([, ratio]) => ratio < 4.5)).toEqual([]);
      const background = await page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
      expect(background).toBe(theme === 'light' ? 'rgb(246, 247, 249)' : 'rgb(20, 23, 28)');
    },
  );

  it('does not move where the person wants no motion', async () => {
    const page = await open({ reducedMotion: 'reduce' });
    await tile(page, 'node-a1').waitFor();
    const duration = `getComputedStyle(document.querySelector('.tile')).transitionDuration`;
    expect(await page.evaluate<string>(duration)).toBe('0s');
    expect(problems()).toEqual([]);
  });
});

async function open(options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  watched = await openPage(browser, server.url, options);
  return watched.page;
}

const problems = (): readonly string[] => watched?.problems ?? ['no page is open'];

const tile = (page: Page, name: string): ReturnType<Page['getByRole']> =>
  page.locator('#fleet').getByRole('button', { name });

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()');

/** The contrast of each text of a state against its background, as WCAG computes it. */
const CONTRASTS = `
  (() => {
    const light = (color) => {
      const parts = color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
      const [r, g, b] = parts.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const classes = ['good', 'busy', 'attention', 'bad', 'quiet'].map((tone) => {
      const element = document.createElement('span');
      element.className = 'badge ' + tone;
      document.querySelector('.card').append(element);
      return element;
    });
    const texts = [...classes, document.querySelector('.tile'), document.querySelector('.card .soft')];
    return texts.map((element) => {
      let behind = element;
      while (getComputedStyle(behind).backgroundColor === 'rgba(0, 0, 0, 0)') behind = behind.parentElement;
      const [one, other] = [getComputedStyle(element).color, getComputedStyle(behind).backgroundColor].map(light);
      return [element.className, (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)];
    });
  })()`;
