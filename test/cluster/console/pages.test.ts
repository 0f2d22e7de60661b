/** Every page of the console: its address, the keyboard, and what axe-core finds. In a real browser. */
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import { PAGES } from '../../../src/console/state/pages/address.ts';
import { type ConsoleState, NO_STATE } from '../../../src/console/state/state.ts';
import type {
  MachineAnswer,
  MachineDetailView,
  MachineEventsView,
} from '../../../src/views/machine/detail.ts';
import { clusterLine } from '../../console/fixtures.ts';
import { launchBrowser, noBrowserReason, openPage, type WatchedPage } from '../../support/browser.ts';
import { tempFolder } from '../../support/temp.ts';
import { BUSY_STATE } from './busy-state.ts';
import { type SettableSource, servePage, settable } from './served-page.ts';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
/** The rules that axe-core found broken, with the elements. Those of color wait for the fonts and the styles. */
const FINDINGS = `axe.run().then(({ violations }) => violations.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => target.join(' '))]))`;
const TOO_WIDE = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
const MACHINE = '/machines/prod/prod-a-05';

const SINCE = '2026-03-02T09:40:00Z';
const DETAIL: MachineDetailView = {
  components: [
    {
      name: 'kubelet',
      desired: '1.36.0',
      runs: '1.35.4',
      digest: 'sha256:0123',
      state: 'Failed',
      since: SINCE,
      because: 'exit code 1; by general',
    },
  ],
  conditions: [
    { condition: 'AgentReady=False', reason: 'AgentSilent', since: SINCE, message: 'no heartbeat for 90 s' },
  ],
};

const WHY = `prod-a-05   pool general   NotReady 12m

waits     RemedyOperationJob disk-full: ApprovalRequired: rung restart needs one (9m)
DENIED    Reboot  ConcurrencyZone  2 of 2 machines of zone a are out of service
`;
const EVENTS: MachineEventsView = {
  events: [
    {
      at: SINCE,
      isWarning: true,
      reason: 'FreeDiskSpaceFailed',
      about: 'Node',
      message: 'found 0 bytes eligible to free',
      count: 14,
      from: 'kubelet',
    },
  ],
};

const ANSWER: MachineAnswer = { text: WHY, at: SINCE };

const folder = tempFolder('page');
let browser: Browser;
let server: ConsoleServer;
let source: SettableSource;
let detail = DETAIL;
let events = EVENTS;
/** Undefined: the server does not know the machine. */
let answer: MachineAnswer | undefined = ANSWER;
let watched: WatchedPage | undefined;

describe.skipIf(noBrowserReason !== undefined)('the pages of the console', () => {
  beforeAll(async () => {
    await buildConsolePage(folder);
    browser = await launchBrowser();
    source = settable(BUSY_STATE);
    server = await servePage(folder, {
      ...source,
      machine: () => detail,
      why: () => answer && Promise.resolve(answer),
      events: () => Promise.resolve(events),
    });
  });
  afterEach(async () => {
    source.set(BUSY_STATE);
    detail = DETAIL;
    events = EVENTS;
    answer = ANSWER;
    await watched?.page.context().close();
    watched = undefined;
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  it.each(
    [...PAGES.map((page) => `/${page}`), MACHINE].flatMap((address) => [
      [address, 1440, 'light'] as const,
      [address, 390, 'dark'] as const,
    ]),
  )(
    'CON-01 axe-core finds nothing on %s at %d pixels in the %s theme',
    async (address, width, colorScheme) => {
      const page = await open(address, {
        viewport: { width, height: 900 },
        colorScheme,
        reducedMotion: 'reduce',
      });
      await page.evaluate(AXE);
      expect(await page.evaluate(FINDINGS)).toEqual([]);
      expect(await page.evaluate(TOO_WIDE)).toBeLessThanOrEqual(0);
      expect(problems()).toEqual([]);
    },
  );

  it.each([10, 1000, 10_000])('CON-05 fits %d machines into wide and narrow windows', async (count) => {
    source.set(fleetOf(count));
    const page = await open('/fleet');
    await page
      .locator('.tile')
      .nth(count - 1)
      .waitFor({ state: 'attached' });
    for (const width of [1440, 1024, 390]) {
      // oxlint-disable no-await-in-loop -- one page
      await page.setViewportSize({ width, height: 900 });
      expect(await page.evaluate(TOO_WIDE)).toBeLessThanOrEqual(0);
      // oxlint-enable no-await-in-loop
    }
    expect(problems()).toEqual([]);
  });

  it('CON-05 shows the last state, and answers the keyboard, after all of 10,000 machines flapped again and again', async () => {
    source.set(fleetOf(10_000));
    const page = await open('/fleet');
    await page.locator('.tile').nth(9999).waitFor({ state: 'attached' });
    for (const phase of ['NotReady', 'Ready', 'NotReady', 'Ready', 'NotReady']) {
      source.set(fleetOf(10_000, phase));
      // oxlint-disable-next-line no-await-in-loop -- each after the other
      await page.getByRole('list', { name: 'Machines by phase' }).getByText(`${phase} 10,000`).waitFor();
    }
    await page.keyboard.press('/');
    await page.keyboard.type('node-9999');
    await page.getByRole('option', { name: /node-9999/ }).waitFor();
    expect(problems()).toEqual([]);
  });

  it('CON-05 loads at most 150 KB', async () => {
    const names = ['page.js', 'page.css', 'index.html'];
    const files = await Promise.all(names.map((name) => readFile(join(folder, name))));
    const sizes = files.map((content) => gzipSync(content).length);
    expect(sizes.reduce((all, each) => all + each, 0)).toBeLessThan(150_000);
  });

  it.each(PAGES)('CON-01 axe-core finds nothing on /%s of a fleet without anything', async (name) => {
    source.set(NO_STATE);
    const page = await open(`/${name}`);
    await page.evaluate(AXE);
    expect(await page.evaluate(FINDINGS)).toEqual([]);
    expect(problems()).toEqual([]);
  });

  it('CON-32 shows the answer of why machine word for word, and the events of the machine, in its drawer', async () => {
    const page = await open(MACHINE);
    const drawer = page.getByRole('dialog');
    await drawer.getByText('ConcurrencyZone').waitFor();
    // Each line is a block: the text of the element has no more than the command prints.
    expect((await drawer.locator('.words').textContent())?.trim()).toBe(WHY.trim());
    await drawer.getByText('kubenode why machine prod-a-05').waitFor();
    await drawer.getByText('14 times').waitFor();
    await drawer.getByText('found 0 bytes eligible to free').waitFor();
    events = { events: [], problem: 'you may not list events in namespace default' };
    // A machine that changes is read again.
    const { machines } = BUSY_STATE;
    source.set({ ...BUSY_STATE, machines: { ...machines, 'prod/prod-a-05': { p: 'Stalled' } } });
    await drawer.getByText('you may not list events in namespace default').waitFor();
    expect(problems()).toEqual([]);
  });

  it('CON-32 keeps the last answer of why beside the reason for which there is no newer one', async () => {
    const page = await open(MACHINE);
    const drawer = page.getByRole('dialog');
    const words = drawer.locator('.words');
    await words.waitFor();
    for (const [next, shown] of [
      [{ problem: 'no answer within 30 s' }, 'not answered: no answer within 30 s'],
      [undefined, 'no new answer: the console does not know this machine'],
    ] as const) {
      answer = next;
      // oxlint-disable no-await-in-loop -- one page
      await drawer.getByRole('button', { name: 'Ask again' }).click();
      await drawer.getByText(shown).waitFor();
      expect((await words.textContent())?.trim()).toBe(WHY.trim());
      // oxlint-enable no-await-in-loop
    }
    answer = ANSWER;
    // It is asked again without a click.
    await drawer.getByText('no new answer').waitFor({ state: 'detached' });
    expect(problems()).toEqual([]);
  });

  it('CON-03 reaches every page with the keyboard alone', async () => {
    const page = await open('/health');
    await page.keyboard.press('Tab');
    for (const name of PAGES) {
      const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
      // oxlint-disable no-await-in-loop -- one page
      await tabTo(page, title);
      await page.keyboard.press('Enter');
      await page.locator(`main > #${name}`).waitFor();
      expect(await page.getByRole('link', { name: title, exact: true }).getAttribute('aria-current')).toBe(
        'page',
      );
      // oxlint-enable no-await-in-loop
    }
    expect(problems()).toEqual([]);
  });

  it('CON-02 keeps page and filters in the address: a reload shows the same, Back returns', async () => {
    const page = await open('/fleet');
    await page.getByRole('link', { name: 'pool', exact: true }).click();
    await page.getByRole('link', { name: 'trouble', exact: true }).click();
    await page.getByRole('group', { name: /^Pool general: 15 Ready/ }).waitFor();
    expect(await shownTiles(page)).toEqual(['prod/prod-a-05', 'prod/prod-b-08']);
    await page.reload();
    await page.getByRole('group', { name: /^Pool general: 15 Ready/ }).waitFor();
    expect(await shownTiles(page)).toEqual(['prod/prod-a-05', 'prod/prod-b-08']);
    await page.goBack();
    await page.goBack();
    await page.getByRole('group', { name: /^Zone b: 7 Ready/ }).waitFor();
    expect((await shownTiles(page)).length).toBe(23);
    expect(problems()).toEqual([]);
  });

  it('CON-02 opens a machine over the page with an address of its own, which Back and Escape close', async () => {
    const page = await open('/repairs');
    const dialog = page.getByRole('dialog', { name: 'prod/prod-b-08' });
    const repair = page.locator('#repairs').getByRole('article', { name: 'Repair of prod-b-08 in prod' });
    for (const close of [() => page.goBack(), () => page.keyboard.press('Escape')]) {
      // oxlint-disable no-await-in-loop -- one page
      await repair.getByRole('link', { name: 'prod-b-08' }).click();
      await dialog.getByText('kubenode why machine prod-b-08').waitFor();
      expect(new URL(page.url()).hash).toBe('#/machines/prod/prod-b-08');
      await close();
      await dialog.waitFor({ state: 'detached' });
      expect(new URL(page.url()).hash).toBe('#/repairs');
      // oxlint-enable no-await-in-loop
    }
    await page.goto(`${server.url}#/machines/prod/prod-b-08`);
    await page.reload();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.locator('#fleet').waitFor();
    expect(problems()).toEqual([]);
  });

  it('shows the components of a machine with their digests, and its conditions that need attention', async () => {
    const page = await open(MACHINE);
    const dialog = page.getByRole('dialog', { name: 'prod/prod-a-05' });
    await dialog.getByText('kubelet 1.35.4 → 1.36.0 Failed').waitFor();
    await dialog.getByText('exit code 1; by general').waitFor();
    await dialog.getByText('sha256:0123').waitFor();
    await dialog.getByText('AgentReady=False AgentSilent').waitFor();
    expect(problems()).toEqual([]);
  });

  it('shows new components of an open machine whose tile does not change', async () => {
    const page = await open(MACHINE);
    const dialog = page.getByRole('dialog', { name: 'prod/prod-a-05' });
    await dialog.getByText('kubelet 1.35.4 → 1.36.0 Failed').waitFor();
    detail = {
      components: DETAIL.components.map((row) => ({ ...row, state: 'Activating' })),
      conditions: [],
    };
    await dialog.getByText('kubelet 1.35.4 → 1.36.0 Activating').waitFor();
    expect(await dialog.getByText('AgentReady=False AgentSilent').count()).toBe(0);
    expect(problems()).toEqual([]);
  });

  it('CON-03 finds a machine by its name with ⌘K or /, and opens it with Enter', async () => {
    const page = await open('/health');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    for (const key of ['/', 'Control+k']) {
      // oxlint-disable no-await-in-loop -- one page
      await page.keyboard.press(key);
      await dialog.waitFor();
      await page.evaluate(AXE);
      expect(await page.evaluate(FINDINGS)).toEqual([]);
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      // oxlint-enable no-await-in-loop
    }
    await page.keyboard.press('/');
    await page.keyboard.type('prod-b-0');
    await page.getByRole('option', { name: 'machine prod-b-01' }).waitFor();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog', { name: 'prod/prod-b-02' }).waitFor();
    expect(problems()).toEqual([]);
  });

  it('CON-03 closes with Escape the search alone, and then the machine below it', async () => {
    const page = await open(MACHINE);
    const machine = page.getByRole('dialog', { name: 'prod/prod-a-05' });
    const search = page.getByRole('dialog', { name: 'Search' });
    await machine.waitFor();
    await page.keyboard.press('/');
    await search.waitFor();
    await page.keyboard.press('Escape');
    await search.waitFor({ state: 'detached' });
    expect([await machine.count(), new URL(page.url()).hash]).toEqual([1, `#${MACHINE}`]);
    await page.keyboard.press('Escape');
    await machine.waitFor({ state: 'detached' });
    expect(problems()).toEqual([]);
  });

  it('keeps the theme that a person chose', async () => {
    const page = await open('/fleet', { colorScheme: 'light' });
    const background = (): Promise<string> =>
      page.evaluate<string>('getComputedStyle(document.body).backgroundColor');
    const before = await background();
    await page.getByRole('button', { name: 'Theme: system. Change to light' }).click();
    await page.getByRole('button', { name: 'Theme: light. Change to dark' }).click();
    const dark = await background();
    expect(dark).not.toBe(before);
    await page.reload();
    await page.getByRole('button', { name: 'Theme: dark. Change to system' }).waitFor();
    expect(await background()).toBe(dark);
    expect(problems()).toEqual([]);
  });

  it('shows the revisions that a set had, on demand', async () => {
    const page = await open('/rollouts');
    const rollout = page.locator('#rollouts').getByRole('article', { name: 'Rollout gpu-nodes in prod' });
    const revision = rollout.getByText('kubelet-1.35.4 Completed');
    expect(await revision.isVisible()).toBe(false);
    await rollout.getByText('Revisions').click();
    await revision.waitFor();
    expect(problems()).toEqual([]);
  });

  it('shows commits by stage with what they change, and links to the commit at the git host', async () => {
    const page = await open('/releases');
    const row = page.getByRole('row', { name: /^5f2c9a41d0b7/ });
    await row.getByText('prod needs an approval').waitFor();
    await row.getByText('1 of 2 clusters change; objects: 3 created, 4 updated, 0 deleted').waitFor();
    await row.getByText(/^kim \d+[smhd] ago$/).waitFor();
    await row.getByText('0 of 2 clusters proven').waitFor();
    expect(await page.getByRole('columnheader').allTextContents()).not.toContain('prod of fleet');
    const link = row.getByRole('link', { name: '5f2c9a41d0b7' });
    expect(await link.getAttribute('href')).toBe('https://git.example.com/team/fleet/commit/5f2c9a41d0b7');
    expect(problems()).toEqual([]);
  });

  it('names the Pipeline of each stage where there are several', async () => {
    const edge = clusterLine('edge-1', { pipeline: 'edge', stage: 'prod', order: 9 });
    source.set({ ...BUSY_STATE, clusters: { ...BUSY_STATE.clusters, 'edge-1': edge } });
    const page = await open('/releases');
    await page.getByRole('columnheader', { name: 'prod of edge' }).waitFor();
    await page.getByRole('columnheader', { name: 'prod of fleet' }).waitFor();
    await page.getByRole('link', { name: 'Fleet', exact: true }).click();
    await page.getByRole('heading', { name: 'Stage prod of edge' }).waitFor();
    expect(problems()).toEqual([]);
  });
});

async function open(address: string, options: Parameters<Browser['newPage']>[0] = {}): Promise<Page> {
  watched = await openPage(browser, `${server.url}#${address}`, options);
  await watched.page.getByRole('list', { name: 'The fleet in numbers' }).waitFor();
  return watched.page;
}

/** Machines in three zones of three clusters. */
function fleetOf(count: number, phase = 'Ready'): ConsoleState {
  const names = ['test', 'eu-1', 'us-1'];
  const machines = Array.from({ length: count }, (_, index) => {
    const cluster = names[index % 3] ?? '';
    return [`${cluster}/node-${index}`, { p: phase, z: `zone-${index % 7}` }] as const;
  });
  const clusters = names.map((name, order) => [name, clusterLine(name, { order, stage: name })] as const);
  return {
    ...NO_STATE,
    machines: Object.fromEntries(machines),
    clusters: Object.fromEntries(clusters),
  };
}

const problems = (): readonly string[] => watched?.problems ?? ['no page is open'];

/** Presses Tab until the element of this text has the focus; at most once for each element of the page. */
async function tabTo(page: Page, text: string): Promise<void> {
  const focused = (): Promise<string> => page.evaluate<string>('document.activeElement.textContent.trim()');
  for (let tabs = 0; tabs < 200; tabs += 1) {
    // oxlint-disable no-await-in-loop -- one page
    if ((await focused()) === text) return;
    await page.keyboard.press('Tab');
    // oxlint-enable no-await-in-loop
  }
  throw new Error(`Tab does not reach ${text}`);
}

function shownTiles(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(
    `[...document.querySelectorAll('.tile')].filter((tile) => tile.checkVisibility()).map((tile) => tile.dataset.machine)`,
  );
}
