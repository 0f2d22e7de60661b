/** The limits over clusters on the page of the console: bars, who waits, what is not reached, and the stop. In a real browser. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import type { ConsoleState, FleetPolicyCard } from '../../../src/console/state/state.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { FLEET_STOP, fleetPolicyCard } from '../../console/fixtures.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { PICTURE_STATE } from './picture-state.ts';
import { type SettableSource, servePage, settable } from './served-page.ts';

const SINCE = new Date(+createSystemClock().now() - 600_000).toISOString();
const CARD: Partial<FleetPolicyCard> = {
  phase: 'CutOff',
  because: 'eu-9: each continues at its floor when its allowance has ended',
  clusters: { total: 5, current: 4 },
  limits: [
    {
      id: 'fleet/clusters',
      counts: 'clusters in work at once',
      max: 4,
      use: { used: 1, handedOut: 3 },
    },
    { id: 'fleet/reboots', counts: 'acts Reboot in 1 h', max: 20 },
  ],
  waiting: [
    {
      cluster: 'eu-1',
      limit: 'fleet/clusters',
      since: SINCE,
      because: 'at most 4 clusters; counted: us-1, us-2, us-3',
    },
  ],
  notServed: [{ cluster: 'eu-9', since: SINCE, because: 'CutOff: no route to host' }],
};

let browser: Browser;
let server: ConsoleServer;
let source: SettableSource;

function stateWith(...policies: readonly FleetPolicyCard[]): ConsoleState {
  return {
    ...PICTURE_STATE,
    fleetPolicies: Object.fromEntries(policies.map((policy) => [policy.name, policy])),
  };
}

describe.skipIf(noBrowserReason !== undefined)('the limits over clusters on the page of the console', () => {
  beforeAll(async () => {
    const folder = tempFolder('page');
    await buildConsolePage(folder);
    browser = await launchBrowser();
    source = settable(stateWith(fleetPolicyCard('fleet', CARD)));
    server = await servePage(folder, source);
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it('shows the use of each limit as a bar, who waits and since when, and what is not reached', async () => {
    source.set(stateWith(fleetPolicyCard('fleet', CARD)));
    const { page, problems } = await openPage(browser, `${server.url}#/limits`);
    const card = page.locator('#limits').getByRole('article', { name: 'Limits over clusters: fleet' });
    await card.getByText('4 of 5 clusters keep to it').waitFor();
    const bar = card.getByRole('img', { name: 'fleet/clusters: clusters in work at once: 1 used, 3 handed' });
    const bars = await bar.locator('rect').all();
    expect(await Promise.all(bars.map((rect) => rect.getAttribute('width')))).toEqual(['75', '25']);
    await card.getByText('fleet/reboots: acts Reboot in 1 h: use not reported yet, at most 20').waitFor();
    const items = await card.getByRole('listitem').allTextContents();
    expect(items).toEqual([
      'eu-1 for fleet/clusters for 10m: at most 4 clusters; counted: us-1, us-2, us-3',
      'eu-9 for 10m: CutOff: no route to host',
    ]);
    expect(await page.locator('#stops').count()).toBe(0);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('shows what failed in several clusters and is held, and until when', async () => {
    const held = [
      { cause: 'componentUpdate=web-2', since: SINCE, until: '12:30', because: 'it failed in a, b' },
    ];
    source.set(stateWith(fleetPolicyCard('fleet', { phase: 'Held', held })));
    const { page, problems } = await openPage(browser, `${server.url}#/limits`);
    const card = page.locator('#limits').getByRole('article', { name: 'Limits over clusters: fleet' });
    await card.getByRole('heading', { name: 'Held in all clusters' }).waitFor();
    expect(await card.getByRole('listitem').allTextContents()).toEqual([
      'componentUpdate=web-2 for 10m, until 12:30: it failed in a, b',
    ]);
    // A stop of the same policy has the banner, and hides nothing that is held.
    source.set(stateWith(fleetPolicyCard('fleet', { phase: 'Stopped', held, limits: [], stop: FLEET_STOP })));
    await page.getByRole('article', { name: 'Stop by FleetPolicy fleet' }).waitFor();
    expect(await card.getByRole('listitem').count()).toBe(1);
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('marks the last report while no process hands out allowances', async () => {
    source.set(stateWith(fleetPolicyCard('fleet', { stale: 'nothing hands out allowances' })));
    const { page } = await openPage(browser, `${server.url}#/limits`);
    const report = page.locator('#limits').getByText('! last report nothing hands out allowances');
    await report.waitFor();
    expect(await report.count()).toBe(1);
    await page.context().close();
  });

  it('shows a stop of all clusters above everything with who, why and what ends it, until it is resumed', async () => {
    source.set(stateWith(fleetPolicyCard('fleet')));
    const { page, problems } = await openPage(browser, `${server.url}#/limits`);
    await page.locator('#limits').getByText('InForce').waitFor();
    source.set(stateWith(fleetPolicyCard('fleet'), stopCard()));
    const banner = page.getByRole('article', { name: 'Stop by FleetPolicy kill-switch' });
    await banner.getByText('bad kernel image by kim').waitFor();
    await banner.getByText('disruptive act are stopped in all clusters').waitFor();
    await banner.getByText('3 of 4 clusters have stopped').waitFor();
    await banner.getByText('No commit begins in any cluster meanwhile').waitFor();
    await banner.getByText('kubenode fleet resume').waitFor();
    await page.getByRole('status').getByText('stopped: bad kernel image').waitFor({ state: 'attached' });
    expect(await page.locator('#limits article').count()).toBe(1);
    const first = await page.locator('main section').first().getAttribute('id');
    expect(first).toBe('stops');
    source.set(stateWith(fleetPolicyCard('fleet')));
    await banner.waitFor({ state: 'detached' });
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it.each([
    [1440, 'light'],
    [1024, 'dark'],
    [390, 'light'],
    [390, 'dark'],
  ] as const)('fits into %d pixels in the %s theme', async (width, colorScheme) => {
    source.set(stateWith(fleetPolicyCard('fleet', CARD), stopCard()));
    const { page, problems } = await openPage(browser, `${server.url}#/limits`, {
      viewport: { width, height: 900 },
      colorScheme,
    });
    await page.getByRole('article', { name: 'Stop by FleetPolicy kill-switch' }).waitFor();
    expect(await page.evaluate<number>('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width);
    expect(problems).toEqual([]);
    await page.context().close();
  });
});

function stopCard(): FleetPolicyCard {
  return fleetPolicyCard('kill-switch', {
    phase: 'Stopped',
    limits: [],
    stop: { ...FLEET_STOP, since: SINCE },
  });
}
