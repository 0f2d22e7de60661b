/** The last hour on the page: as lines in the colors of their keys, and in words. */
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import type { ConsoleState, HistoryPoint } from '../../../src/console/state/state.ts';
import { stateOf } from '../../console/fixtures.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { type SettableSource, servePage, settable } from './served-page.ts';

const NONE: HistoryPoint = { ready: 0, changing: 0, trouble: 0, repairs: 0, grants: 0, updated: 0 };
const START = 1_772_445_600;

/** Ten minutes with the first of these counts, and then points of five seconds with the others. */
function withTrouble(first: number, ...counts: readonly number[]): ConsoleState {
  const before = Array.from({ length: 120 }, () => first);
  const points = [...before, ...counts].map(
    (trouble, index) => [START + 5 * index, { ...NONE, trouble }] as const,
  );
  return stateOf({ 'a/m-1': 'Ready' }, { history: Object.fromEntries(points) });
}

/** Beside two machines in trouble. */
const WITH_UPDATED: ConsoleState = stateOf(
  { 'a/m-1': 'Ready' },
  {
    history: Object.fromEntries(
      Array.from({ length: 120 }, (_, index) => [
        START + 5 * index,
        { ...NONE, trouble: 2, ready: 10_000, updated: 9000 },
      ]),
    ),
  },
);

/** How many pixels of the chart have the color of this key. */
const pixelsOf = (field: string): string => `${placesOf(field)}.length`;

/** How far below the top of the chart the first of them is, in percent. */
const topOf = (field: string): string =>
  `100 * ${placesOf(field)}[0] / ${chartOf(field)}.querySelector('canvas').height`;

const chartOf = (field: string): string => `document.querySelector('.key.${field}').closest('figure')`;

/** The row of each pixel of the color of this key. */
function placesOf(field: string): string {
  return `(() => {
    const [r, g, b] = getComputedStyle(document.querySelector('.key.${field}')).backgroundColor.match(/\\d+/g).map(Number);
    const chart = ${chartOf(field)}.querySelector('canvas');
    const copy = Object.assign(document.createElement('canvas'), { width: chart.width, height: chart.height });
    const context = copy.getContext('2d', { willReadFrequently: true });
    context.drawImage(chart, 0, 0);
    const { data } = context.getImageData(0, 0, copy.width, copy.height);
    const found = [];
    for (let at = 0; at < data.length; at += 4) {
      if (data[at] === r && data[at + 1] === g && data[at + 2] === b && data[at + 3] === 255) found.push(Math.floor(at / 4 / copy.width));
    }
    return found;
  })()`;
}

let browser: Browser;
let server: ConsoleServer;
let source: SettableSource;

describe.skipIf(noBrowserReason !== undefined)('the last hour', () => {
  beforeAll(async () => {
    const folder = tempFolder('page');
    await buildConsolePage(folder);
    browser = await launchBrowser();
    source = settable(withTrouble(0, 4, 1));
    server = await servePage(folder, source);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('is drawn in the colors of its keys, in each theme, follows new points, and has its numbers in words', async () => {
    source.set(withTrouble(0, 4, 1));
    const { page, problems } = await openPage(browser, `${server.url}#/health`, { colorScheme: 'light' });
    await page.getByText('machines in trouble: 1 now, 4 at most').waitFor();
    const few = await drawn(page, 'trouble');
    expect(few).toBeGreaterThan(50);
    await page.emulateMedia({ colorScheme: 'dark' });
    await expect.poll(() => page.evaluate<number>(pixelsOf('trouble'))).toBeGreaterThan(50);
    source.set(withTrouble(0, 4, 1, 9));
    await page.getByText('machines in trouble: 9 now, 9 at most').waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('shows how many machines are in service in a chart of their own, so that they flatten no other line', async () => {
    source.set(WITH_UPDATED);
    const { page, problems } = await openPage(browser, `${server.url}#/health`, { colorScheme: 'light' });
    await page.getByText('machines updated by their rollouts: 9,000 now, 9,000 at least').waitFor();
    expect(await drawn(page, 'updated')).toBeGreaterThan(50);
    // Two machines in trouble are at the top of their chart; beside 10,000 they would be at its foot.
    expect(await page.evaluate<number>(topOf('trouble'))).toBeLessThan(30);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('has the name of each line at its end, and names that cover no other', async () => {
    source.set(WITH_UPDATED);
    const { page } = await openPage(browser, `${server.url}#/health`);
    await drawn(page, 'ready');
    const ends = page.locator('#service .line-end');
    expect(await ends.allTextContents()).toEqual(['Ready', 'updated']);
    const [ready, updated] = await Promise.all([ends.nth(0).boundingBox(), ends.nth(1).boundingBox()]);
    expect((updated?.y ?? 0) - (ready?.y ?? 0)).toBeGreaterThanOrEqual(16);
    await page.context().close();
  });

  it('CON-30 states without a Prometheus that only the last hour is known', async () => {
    source.set(withTrouble(0, 4, 1));
    const { page, problems } = await openPage(browser, `${server.url}#/health?range=6h`);
    await page.getByText('The console remembers the last hour.').waitFor();
    await page.getByText('machines in trouble: 1 now, 4 at most').waitFor();
    await page.getByRole('link', { name: '15 min' }).click();
    await page.getByText('The console remembers the last hour.').waitFor({ state: 'detached' });
    expect([new URL(page.url()).hash, problems]).toEqual(['#/health?range=15m', []]);
    await page.context().close();
  });

  it('is as wide as its card, and smaller in a smaller window', async () => {
    const { page } = await openPage(browser, `${server.url}#/health`);
    const width = (): Promise<number> =>
      page.evaluate<number>(`document.querySelector('.chart canvas').getBoundingClientRect().width`);
    await page.locator('.chart canvas').first().waitFor();
    const wide = await width();
    expect(wide).toBeGreaterThan(360);
    await page.setViewportSize({ width: 390, height: 800 });
    await expect.poll(width).toBeLessThan(340);
    await page.context().close();
  });
});

async function drawn(page: Page, field: string): Promise<number> {
  await page.locator('.chart canvas').first().waitFor();
  return await page.evaluate<number>(pixelsOf(field));
}
