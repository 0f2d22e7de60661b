/** What a person has to look at first is beside every page of the console, and incidents are above it. In a real browser. */
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
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
  beforeEach(() => source.set(PICTURE_STATE));
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('CON-04 shows a rollout that has stopped beside the fleet, with the command, and not when it continues', async () => {
    const { page, problems } = await openPage(browser, server.url);
    const attention = page.locator('#attention');
    const waits = page.getByRole('link', { name: /^Waits for you/ });
    await attention.getByText('Nothing waits for a person.').waitFor();
    expect([await attention.getByRole('article').count(), await waits.textContent()]).toEqual([
      0,
      'Waits for you 0',
    ]);
    source.set(
      stateWith({ state: 'NeedsPerson', because: 'it is paused', unblock: 'kubenode rollout resume' }, {}),
    );
    const rollout = attention.getByRole('article', { name: ROLLOUT });
    await rollout.getByText('it is paused').waitFor();
    await rollout.getByText('kubenode rollout resume').waitFor();
    expect([await isBesideFleet(page, rollout), await waits.textContent()]).toEqual([
      true,
      'Waits for you 1',
    ]);
    source.set(PICTURE_STATE);
    await rollout.waitFor({ state: 'detached' });
    source.set(stateWith({}, { state: 'NeedsPerson' }));
    const repair = attention.getByRole('article', { name: REPAIR });
    await repair.waitFor();
    expect(await isBesideFleet(page, repair)).toBe(true);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('shows on the pages of rollouts and repairs first what waits for a person', async () => {
    const other = { set: 'another', state: 'NeedsPerson', because: 'it is paused' };
    const { rollouts } = PICTURE_STATE;
    source.set({
      ...PICTURE_STATE,
      rollouts: { ...rollouts, ...prefixed('zz', withFields(rollouts, other)) },
    });
    const { page, problems } = await openPage(browser, `${server.url}#/rollouts`);
    const cards = page.locator('#rollouts').getByRole('article');
    await cards.nth(1).waitFor();
    const labels = `[...document.querySelectorAll('#rollouts article')].map((card) => card.ariaLabel)`;
    const names = await page.evaluate<readonly string[]>(labels);
    expect(names).toEqual(['Rollout another in prod', ROLLOUT]);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('CON-04 shows an incident as a banner above every page, in the words of the Defender', async () => {
    const text = 'prod: a breaker of DefenderPolicy fleet-default is open: 5 of 9. kubenode defender status';
    source.set({ ...PICTURE_STATE, notes: { [text]: { text, bad: true, isIncident: true } } });
    const { page, problems } = await openPage(browser, server.url);
    const banner = page.locator('#incidents').getByText(text);
    await banner.waitFor();
    const attention = page.locator('#attention');
    await attention.getByText('The incident above the page needs a person.').waitFor();
    const waits = page.getByRole('link', { name: /^Waits for you/ });
    expect([await waits.textContent(), await attention.getByText('Nothing waits').count()]).toEqual([
      'Waits for you 1',
      0,
    ]);
    await page.getByRole('link', { name: 'Health', exact: true }).click();
    await page.locator('#health').waitFor();
    const [top, pageTop] = [await banner.boundingBox(), await page.locator('#health').boundingBox()];
    expect(top?.y).toBeLessThan(pageTop?.y ?? 0);
    expect(await page.locator('#attention').getByText(text).count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

/** Whether a part is at the right of the fleet and on the first screen. */
async function isBesideFleet(page: Page, part: Locator): Promise<boolean> {
  const [own, fleet] = [await part.boundingBox(), await page.locator('#fleet').boundingBox()];
  if (!own || !fleet) return false;
  return own.x >= fleet.x + fleet.width && own.y + own.height < (page.viewportSize()?.height ?? 0);
}

function prefixed<Row>(prefix: string, rows: RowsByKey<Row>): RowsByKey<Row> {
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [`${prefix}${key}`, row]));
}
