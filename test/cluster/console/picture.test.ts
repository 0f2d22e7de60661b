/** The picture of the documentation: the real page in Chromium with the same data at the same moment. `UPDATE_GOLDEN=1` takes it again. */
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import type { ConsoleState } from '../../../src/console/state/state.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { comparePictures, type DrawnWith, drawnWith, incomparableReason } from '../../support/picture.ts';
import { tempFolder } from '../../support/temp.ts';
import { PICTURE_STATE, PICTURE_TIME } from './picture-state.ts';
import { type SettableSource, servePage, settable } from './served-page.ts';

const PICTURE = fileURLToPath(new URL('../../../docs/guides/console.png', import.meta.url));
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
    server = await servePage(folder, source);
    if (UPDATE) {
      writeFileSync(PICTURE, await takePicture(PICTURE_STATE));
      writeFileSync(DRAWN_WITH, `${JSON.stringify(drawnWith(browser), undefined, 2)}\n`);
    }
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('is the one in the documentation', async (context) => {
    skipElsewhere(context.skip);
    const found = await takePicture(PICTURE_STATE);
    const { pixels, where } = await comparePictures(browser, readFileSync(PICTURE), found);
    const left = join(LEFT, 'console.png');
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
    const found = await takePicture({ ...PICTURE_STATE, machines });
    const { pixels, where } = await comparePictures(browser, readFileSync(PICTURE), found);
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

async function takePicture(state: ConsoleState): Promise<Buffer> {
  source.set(state);
  const { page } = await openPage(browser, server.url, {
    reducedMotion: 'reduce',
    colorScheme: 'light',
    timezoneId: 'UTC',
    locale: 'en-US',
  });
  await page.addInitScript(FIXED_CLOCK);
  await page.reload();
  await page.getByText('✓ live').waitFor();
  await page.getByRole('link', { name: 'Repair of prod-b-08' }).waitFor();
  const picture = await page.screenshot({ fullPage: true });
  await page.context().close();
  return picture;
}
