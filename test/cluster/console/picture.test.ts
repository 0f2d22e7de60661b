/** The pictures of the documentation: the real pages in Chromium with the same data at the same moment. `UPDATE_GOLDEN=1` takes them again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import { PAGES } from '../../../src/console/state/pages/address.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { comparePictures, type DrawnWith, drawnWith, incomparableReason } from '../../support/picture.ts';
import { tempFolder } from '../../support/temp.ts';
import { PICTURE_ANSWER, PICTURE_DETAIL, PICTURE_EVENTS } from './picture-parts.ts';
import { PICTURE_STATE, PICTURE_TIME } from './picture-state.ts';
import { type SettableSource, servePage, settable } from './served-page.ts';

const GUIDES = fileURLToPath(new URL('../../../docs/guides/', import.meta.url));
const [FIRST, ...OTHERS] = PAGES;
/** One for each page, and one of an open machine. That of the first page is beside README.md, too. */
const PICTURES: readonly Picture[] = [
  { file: 'console.png', address: FIRST, shows: 'Repair of prod-b-08' },
  ...OTHERS.map((name) => ({ file: `console-${name}.png`, address: name, shows: 'Repair of prod-b-08' })),
  { file: 'console-machine.png', address: 'machines/prod/prod-a-05', shows: 'Ask again', height: 900 },
];

interface Picture {
  readonly file: string;
  readonly address: string;
  /** The name of a link or a button: the page is complete when it is there. */
  readonly shows: string;
  /** A drawer is as high as the window. Default: the whole page is taken, and no lower than this. */
  readonly height?: number;
}

const DRAWN_WITH = fileURLToPath(new URL('../../golden/console-picture.json', import.meta.url));
/** Where a picture that differs is left: git ignores this folder. */
const LEFT = fileURLToPath(new URL('../../../.vitest/pictures/', import.meta.url));
const UPDATE = process.env['UPDATE_GOLDEN'] === '1';
/** A sign of a tile has more. */
const MAX_PIXELS = 20;
/** Of the page, whose clock this is. */
const FIXED_CLOCK = `performance.now = () => ${Date.parse(PICTURE_TIME)} - performance.timeOrigin;`;

const folder = tempFolder('page');
let source: SettableSource;
let browser: Browser;
let server: ConsoleServer;

describe.skipIf(noBrowserReason !== undefined)('the picture of the console', () => {
  beforeAll(async () => {
    await buildConsolePage(folder);
    browser = await launchBrowser();
    source = settable(PICTURE_STATE);
    server = await servePage(folder, {
      ...source,
      machine: () => PICTURE_DETAIL,
      why: () => Promise.resolve(PICTURE_ANSWER),
      events: () => Promise.resolve(PICTURE_EVENTS),
    });
    if (UPDATE) {
      // oxlint-disable-next-line no-await-in-loop -- one browser
      for (const picture of PICTURES) writeFileSync(join(GUIDES, picture.file), await takePicture(picture));
      writeFileSync(DRAWN_WITH, `${JSON.stringify(drawnWith(browser), undefined, 2)}\n`);
    }
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it.for(PICTURES)('is the one in the documentation: $file', async (picture, { skip }) => {
    skipElsewhere(skip);
    const { file } = picture;
    const found = await takePicture(picture);
    const { pixels, where } = await comparePictures(browser, readFileSync(join(GUIDES, file)), found);
    const left = join(LEFT, file);
    if (pixels > MAX_PIXELS) {
      await mkdir(LEFT, { recursive: true });
      await writeFile(left, found);
    }
    const hint = `the new picture is ${left}; to accept it: UPDATE_GOLDEN=1 npx vitest run --project cluster test/cluster/console/picture.test.ts`;
    expect(pixels, `${pixels} pixels differ, ${where}; ${hint}`).toBeLessThanOrEqual(MAX_PIXELS);
  });

  it('differs where one machine has another sign', async (context) => {
    skipElsewhere(context.skip);
    const machines = { ...PICTURE_STATE.machines, 'test/test-a-01': { p: 'Updating', z: 'a' } };
    const [fleet] = PICTURES as [Picture];
    const found = await takePicture(fleet, { ...PICTURE_STATE, machines });
    const before = readFileSync(join(GUIDES, fleet.file));
    const { pixels, where } = await comparePictures(browser, before, found);
    expect(pixels).toBeGreaterThan(MAX_PIXELS);
    expect(where).toMatch(/^from \d+, \d+ to \d+, \d+$/);
  });
});

function skipElsewhere(skip: (reason: string) => void): void {
  const reason = incomparableReason(
    JSON.parse(readFileSync(DRAWN_WITH, 'utf8')) as DrawnWith,
    drawnWith(browser),
  );
  if (reason === undefined) return;
  process.stderr.write(`the picture is not compared: ${reason}\n`);
  skip(reason);
}

async function takePicture(
  { address, shows, height = 520 }: Picture,
  state: ConsoleState = PICTURE_STATE,
): Promise<Buffer> {
  source.set(state);
  const { page } = await openPage(browser, `${server.url}#/${address}`, {
    viewport: { width: 1200, height },
    reducedMotion: 'reduce',
    colorScheme: 'light',
    timezoneId: 'UTC',
    locale: 'en-US',
  });
  await page.addInitScript(FIXED_CLOCK);
  await page.reload();
  await page.getByText('✓ live').waitFor();
  await page
    .getByRole('link', { name: shows })
    .or(page.getByRole('button', { name: shows }))
    .first()
    .waitFor();
  // What is read on demand is there.
  await page.locator('[aria-busy="true"]').first().waitFor({ state: 'detached' });
  const picture = await page.screenshot({ fullPage: true });
  await page.context().close();
  return picture;
}
