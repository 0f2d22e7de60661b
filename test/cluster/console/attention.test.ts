/** What a person has to look at first is above the fleet on the page of the console. In a real browser. */
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import type { ConsoleState, RepairCard, RolloutCard, RowsByKey } from '../../../src/console/state/state.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { PICTURE_STATE } from './picture-state.ts';
import { type SettableSource, servePage, settable } from './served-page.ts';

const ROLLOUT = 'Rollout general-nodes in prod';
const REPAIR = 'Repair of prod-b-08 in prod';

function withFields<Row>(rows: RowsByKey<Row>, fields: Partial<Row>): RowsByKey<Row> {
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, { ...row, ...fields }]));
}

/** The state of the picture with these changes of its rollout and its repair. */
function stateWith(rollout: Partial<RolloutCard>, repair: Partial<RepairCard>): ConsoleState {
  const { rollouts, repairs } = PICTURE_STATE;
  return { ...PICTURE_STATE, rollouts: withFields(rollouts, rollout), repairs: withFields(repairs, repair) };
}

let browser: Browser;
let server: ConsoleServer;
let source: SettableSource;

describe.skipIf(noBrowserReason !== undefined)('the page of the console', () => {
  beforeAll(async () => {
    const folder = tempFolder('page');
    await buildConsolePage(folder);
    browser = await launchBrowser();
    source = settable(PICTURE_STATE);
    server = await servePage(folder, source);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('shows a rollout that has stopped above the fleet and only there, and below it again when it goes on', async () => {
    const { page, problems } = await openPage(browser, server.url);
    const rollout = page.getByRole('article', { name: ROLLOUT });
    const isAboveFleet = async (card: Locator): Promise<boolean> => {
      const [top, fleetTop] = [await card.boundingBox(), await page.locator('#fleet').boundingBox()];
      return (top?.y ?? Number.NaN) < (fleetTop?.y ?? Number.NaN);
    };
    await rollout.waitFor();
    expect([await isAboveFleet(rollout), await page.locator('#attention').count()]).toEqual([false, 0]);
    source.set(stateWith({ state: 'NeedsPerson', because: 'it is paused' }, {}));
    await page.locator('#attention').getByRole('article', { name: ROLLOUT }).waitFor();
    expect([await isAboveFleet(rollout), await rollout.count()]).toEqual([true, 1]);
    expect(await page.locator('#rollouts p').allTextContents()).toEqual(['No others: see Needs attention.']);
    source.set(PICTURE_STATE);
    await page.locator('#rollouts').getByRole('article', { name: ROLLOUT }).waitFor();
    expect([await isAboveFleet(rollout), await rollout.count()]).toEqual([false, 1]);
    source.set(stateWith({}, { state: 'NeedsPerson' }));
    const repair = page.getByRole('article', { name: REPAIR });
    await page.locator('#attention').getByRole('article', { name: REPAIR }).waitFor();
    expect([await isAboveFleet(repair), await repair.count()]).toEqual([true, 1]);
    expect(await page.locator('#repairs p').allTextContents()).toEqual(['No others: see Needs attention.']);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
