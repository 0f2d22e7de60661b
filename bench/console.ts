/** A tab of the console with a large fleet: how fast it shows it, and what its changes cost. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { buildConsolePage } from '../scripts/bundle-console.ts';
import { PAGE_FOLDER } from '../src/console/server/page-files.ts';
import type { Client } from '../src/kube/client/client.ts';
import { launchBrowser, noBrowserReason } from '../test/support/browser.ts';
import { closeRun, openRun } from '../test/support/control-plane-run.ts';
import { type Bench, type BenchResult, KUBENODE_FLAGS, percentile } from './bench.ts';
import { browserCpuSeconds } from './console/browser.ts';
import { changesOf, report, startFleetServer } from './console/fleet.ts';
import { measureScrolling, type Scrolling } from './console/scroll.ts';
import { readUsage } from './sync/usage.ts';

const MACHINES = Number(process.env['KUBENODE_BENCH_MACHINES'] ?? 10_000);
const LOADS = 5;
const CHANGES_PER_SECOND = 4;
const SETTLE_MS = 5000;
const MEASURED_MS = 30_000;
const SCROLLED_MS = 5000;
const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

export const bench: Bench = {
  name: 'console',
  what: `a tab of kubenode console with ${MACHINES} machines, ${CHANGES_PER_SECOND} of which change each second, against the same tab while nothing changes`,
  run,
};

async function run(): Promise<BenchResult> {
  if (noBrowserReason !== undefined) throw new Error(noBrowserReason);
  const shared = await openRun();
  const server = await startFleetServer(shared, MACHINES);
  try {
    await buildConsolePage(fileURLToPath(PAGE_FOLDER));
    return await withConsole(server.kubeconfig, (url, pid) => measure(url, pid, server.client));
  } finally {
    await server.stop();
    await closeRun(shared);
  }
}

async function withConsole(
  kubeconfig: string,
  work: (url: string, pid: number) => Promise<BenchResult>,
): Promise<BenchResult> {
  const args = [...KUBENODE_FLAGS, MAIN, 'console', '--port', '0', '--kubeconfig', kubeconfig];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return await work(/http:\S+/.exec(line)?.[0] ?? '', child.pid ?? 0);
  } finally {
    child.kill('SIGINT');
    await once(child, 'exit');
  }
}

interface Loading {
  /** When the page first showed anything that is not empty. */
  readonly firstMs: number;
  readonly allMs: number;
}

const FIRST_PICTURE = `performance.getEntriesByName('first-contentful-paint')[0].startTime`;

async function measure(url: string, pid: number, client: Client): Promise<BenchResult> {
  const browser = await launchBrowser();
  try {
    const loads: Loading[] = [];
    // oxlint-disable-next-line no-await-in-loop -- each alone
    for (let load = 0; load < LOADS; load += 1) loads.push(await measureLoading(browser, url));
    const page = await openTab(browser, url);
    const session = await browser.newBrowserCDPSession();
    const parts = { session, pid };
    const idle = await shares(parts, () => sleep(MEASURED_MS));
    const busy = await shares(parts, () => changeMachines(client));
    const scrolling = await scrollWhileMachinesChange(page, client);
    await page.close();
    return resultOf(loads, { idle, busy }, scrolling);
  } finally {
    await browser.close();
  }
}

async function openTab(browser: Browser, url: string): Promise<Page> {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(url);
  await shownTiles(page, MACHINES);
  await sleep(SETTLE_MS);
  return page;
}

/** Times of the page itself, since it was asked for. */
async function measureLoading(browser: Browser, url: string): Promise<Loading> {
  const page = await browser.newPage({ viewport: { width: 1600, height: 1000 } });
  await page.goto(url, { waitUntil: 'commit' });
  await shownTiles(page, MACHINES);
  const allMs = await page.evaluate<number>('performance.now()');
  const firstMs = await page.evaluate<number>(FIRST_PICTURE);
  await page.close();
  return { firstMs, allMs };
}

async function shownTiles(page: Page, count: number): Promise<void> {
  await page
    .locator('.tile')
    .nth(count - 1)
    .waitFor({ state: 'attached' });
}

interface Shares {
  readonly page: number;
  readonly restOfBrowser: number;
  readonly server: number;
}

/** Of a core, while the work lasts. */
async function shares(
  { session, pid }: { readonly session: CDPSession; readonly pid: number },
  work: () => Promise<void>,
): Promise<Shares> {
  const startedMs = performance.now();
  const [before, serverBefore] = [await browserCpuSeconds(session), await readUsage(pid)];
  await work();
  const [after, serverAfter] = [await browserCpuSeconds(session), await readUsage(pid)];
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    page: (after.page - before.page) / seconds,
    restOfBrowser: (after.others - before.others) / seconds,
    server: (serverAfter.cpuSeconds - serverBefore.cpuSeconds) / seconds,
  };
}

/** In a window in which a part of the machines has room. */
async function scrollWhileMachinesChange(page: Page, client: Client): Promise<Scrolling> {
  await page.setViewportSize({ width: 1440, height: 600 });
  await sleep(SETTLE_MS);
  const [scrolling] = await Promise.all([measureScrolling(page), changeMachines(client, SCROLLED_MS)]);
  return scrolling;
}

async function changeMachines(client: Client, forMs = MEASURED_MS): Promise<void> {
  const changes = changesOf(MACHINES);
  const endMs = performance.now() + forMs;
  while (performance.now() < endMs) {
    const next = sleep(1000 / CHANGES_PER_SECOND);
    // oxlint-disable-next-line no-await-in-loop -- at a rate
    await report(client, changes.next().value);
    // oxlint-disable-next-line no-await-in-loop -- at a rate
    await next;
  }
}

function resultOf(
  loads: readonly Loading[],
  { idle, busy }: { readonly idle: Shares; readonly busy: Shares },
  { framesPerSecond, lateShare }: Scrolling,
): BenchResult {
  const firstMs = percentile(
    loads.map((load) => load.firstMs),
    0.5,
  );
  const allMs = percentile(
    loads.map((load) => load.allMs),
    0.5,
  );
  return {
    measured: {
      firstMs,
      allMs,
      pageShare: busy.page,
      restOfBrowserShare: busy.restOfBrowser,
      serverShare: busy.server,
      framesPerSecond,
      lateShare,
    },
    baseline: { pageShare: idle.page, restOfBrowserShare: idle.restOfBrowser, serverShare: idle.server },
    ratios: { serverShareOfPage: busy.server / busy.page },
    gates: [
      { what: 'ms until the first picture', value: firstMs, atMost: 1000 },
      { what: 'share of a core of the tab', value: busy.page, atMost: 0.05 },
      { what: 'share of the frames that come late while a person scrolls', value: lateShare, atMost: 0.05 },
    ],
    setting: { machines: MACHINES, changesPerSecond: CHANGES_PER_SECOND },
  };
}
