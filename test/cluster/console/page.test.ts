/** The page of the console in a real browser, on a real API server whose objects the tests change. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { REMEDY_OPERATION_JOBS } from '../../../src/api/generated/resources.ts';
import {
  MANAGER_REMEDYJOB,
  PRINCIPAL_COMPONENTSET,
  PRINCIPAL_DEFENDER,
  PRINCIPAL_REMEDY,
  PRINCIPAL_REMEDYJOB,
} from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { PAGE_FOLDER } from '../../../src/console/server/page-files.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { launchBrowser, noBrowserReason, openPage, type WatchedPage } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { createGranter } from '../../support/granter.ts';
import { createRepairer, type Repairer } from '../../support/repairs.ts';
import { tempFolder } from '../../support/temp.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { declareCluster, startHub } from '../cli/hub-fixture.ts';
import {
  declareMachine,
  declareSet,
  declareVersion,
  reportMachine,
  reportSet,
} from '../cli/rollout-fixture.ts';

const clock = createSystemClock();

let installed: InstalledServer;
let browser: Browser;
let io: TestIo;
let code: Promise<number>;
let url: string;
let repairer: Repairer;
let remedyjob: Client;
let watched: WatchedPage | undefined;

if (noBrowserReason !== undefined) process.stderr.write(`the page is not tested: ${noBrowserReason}\n`);

describe.skipIf(noBrowserReason !== undefined)('the page of the console', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    await buildConsolePage(fileURLToPath(PAGE_FOLDER));
    [installed, browser] = await Promise.all([startHub(), launchBrowser()]);
    await createFleet();
    io = testIo({ env: { KUBECONFIG: withContext('prod', installed.server.kubeconfig) } });
    code = runCommandLine(io, ['console', '--port', '0']);
    url = await eventually(
      () => Promise.resolve(/http:\S+/.exec(io.stdout)?.[0]),
      `the console does not start: ${io.stderr}`,
    );
  }, 180_000);
  afterEach(async () => {
    await watched?.page.context().close();
    watched = undefined;
  });
  afterAll(async () => {
    await browser?.close();
    io?.interrupt();
    await code;
    await installed?.stop();
  });

  it('shows the fleet by stage and zone, and a machine that changes without a reload', async () => {
    const page = await open();
    await page.getByRole('article', { name: 'Cluster prod' }).waitFor();
    expect(await page.getByRole('heading', { name: 'Stage prod' }).count()).toBe(1);
    await page.getByRole('group', { name: 'Zone a: 3 Ready' }).waitFor();
    await phase('node-b3', 'NotReady', { reason: 'KubeletDown', message: 'the kubelet does not answer' });
    await tile(page, 'node-b3, NotReady, KubeletDown').waitFor();
    await page.getByRole('status').getByText('prod/node-b3: NotReady').waitFor({ state: 'attached' });
    await phase('node-b3', 'Ready');
    await tile(page, 'node-b3, Ready').waitFor();
    expect(problems()).toEqual([]);
  });

  it('shows the batches of a rollout as they happen, and what it waits for', async () => {
    const page = await open();
    const rollout = page.getByRole('article', { name: 'Rollout general in prod' });
    await reportRollout({ phase: 'Rolling', batch: { index: 0, of: 3, size: 1, updated: 0 } });
    await rollout.getByText('Batch 1 of 3 (index 0): 0 of 1 updated').waitFor();
    await reportRollout({ phase: 'Rolling', batch: { index: 1, of: 3, size: 2, updated: 1 }, updated: 2 });
    await rollout.getByText('Batch 2 of 3 (index 1): 1 of 2 updated').waitFor();
    await rollout.getByText('2 of 6 machines updated').waitFor();
    const waiting = { reason: 'ApprovalRequired', since: now(), message: 'batch 2 waits for approval' };
    await reportRollout({ phase: 'Waiting', batch: { index: 2, of: 3, size: 3 }, updated: 3, waiting });
    await rollout.getByText('batch 2 waits for approval').waitFor();
    await rollout.getByText('kubenode rollout approve general').waitFor();
    await rollout.getByText('NeedsPerson').waitFor();
    expect(problems()).toEqual([]);
  });

  it('shows a repair as a timeline as it happens, and its grant', async () => {
    const page = await open();
    const job = await startRepair('node-a1');
    const repair = page.getByRole('article', { name: 'Repair of node-a1 in prod' });
    await repair.getByText('○ acted: not yet').waitFor();
    await tile(page, 'node-a1, Ready, in repair').waitFor();
    await page.locator('#limits').getByText('prod/node-a1: RestartService').waitFor();
    await reportJob(job, { phase: 'Running', timeline: { executedAt: now() } });
    await repair.getByText('● acted').waitFor();
    await reportJob(job, {
      phase: 'Succeeded',
      outcome: { class: 'Succeeded' },
      timeline: { executedAt: now(), verifiedAt: now(), settledAt: now() },
    });
    await repair.getByText('● settled').waitFor();
    await repairer.finish(job, 'Succeeded');
    expect(problems()).toEqual([]);
  });

  it('can be used with the keyboard alone: one tile is in the tab order, arrows move, Enter opens, Escape closes', async () => {
    const page = await open();
    await tile(page, 'node-a1').waitFor();
    expect(await page.locator('.tile[tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('Tab');
    expect(await focused(page)).toBe('Skip to the fleet');
    await page.keyboard.press('Tab');
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

  it('explains in the detail of a machine why it waits and what ends the wait', async () => {
    await phase('node-b1', 'NotReady', { reason: 'AgentSilent', message: 'no heartbeat for 90 s' });
    const page = await open();
    await tile(page, 'node-b1, NotReady, AgentSilent').click();
    const dialog = page.getByRole('dialog', { name: 'prod/node-b1' });
    await dialog.getByText('AgentSilent: no heartbeat for 90 s').waitFor();
    await dialog.getByText('kubenode machine show node-b1').waitFor();
    await phase('node-b1', 'Ready');
    await dialog.getByText('It waits for nothing.').waitFor();
    expect(problems()).toEqual([]);
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
  watched = await openPage(browser, url, options);
  return watched.page;
}

/** Errors in the console of the browser, and requests to anywhere else. */
const problems = (): readonly string[] => watched?.problems ?? ['no page is open'];

const tile = (page: Page, name: string): ReturnType<Page['getByRole']> =>
  page.locator('#fleet').getByRole('button', { name });

const focused = (page: Page): Promise<string> =>
  page.evaluate<string>('document.activeElement.ariaLabel ?? document.activeElement.textContent.trim()');

const now = (): string =>
  clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');

/** The contrast of each text of a state against its background, as WCAG computes it. */
const CONTRASTS = `
  (() => {
    const light = (color) => {
      const parts = color.match(/[\\d.]+/g).slice(0, 3).map((part) => part / 255);
      const [r, g, b] = parts.map((part) => (part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const classes = ['good', 'busy', 'bad', 'quiet'].map((tone) => {
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

/** A copy of the kubeconfig that reaches the same server also under this name, as a cluster of the hub. */
function withContext(name: string, kubeconfig: string): string {
  const config = parse(readFileSync(kubeconfig, 'utf8')) as {
    'current-context': string;
    contexts: { name: string; context: object }[];
  };
  const own = config.contexts.find((context) => context.name === config['current-context']);
  config.contexts.push({ name, context: own?.context ?? {} });
  const file = join(tempFolder(), 'kubeconfig');
  writeFileSync(file, stringify(config));
  return file;
}

async function createFleet(): Promise<void> {
  const { client } = installed.server;
  await declareCluster(client, 'prod', {
    stage: 'prod',
    state: 'Applying',
    message: 'applies',
    commit: 'a'.repeat(40),
  });
  await declareVersion(client, 'kubelet', '1.36.0');
  await declareSet(client, 'general', { kubelet: 'kubelet-1.36.0' });
  for (const name of ['node-a1', 'node-a2', 'node-a3', 'node-b1', 'node-b2', 'node-b3']) {
    await declareMachine(client, name, { zone: name.at(5) }, { pool: 'general' });
    await phase(name, 'Ready');
  }
  remedyjob = await signIn(PRINCIPAL_REMEDYJOB);
  const [defender, componentset] = [await signIn(PRINCIPAL_DEFENDER), await signIn(PRINCIPAL_COMPONENTSET)];
  const granter = createGranter({ defender, componentset, clock });
  repairer = createRepairer({ granter, defender, remedy: await signIn(PRINCIPAL_REMEDY), remedyjob, clock });
}

async function signIn(principal: string): Promise<Client> {
  const { user, groups } = createPrincipal(principal);
  return await installed.as(user, groups);
}

async function phase(name: string, value: string, waiting?: object): Promise<void> {
  const status = { phase: value, ...(waiting && { waiting: { since: now(), ...waiting } }) };
  await reportMachine(installed.server.client, name, status);
}

interface ReportedRollout {
  readonly phase: string;
  readonly batch: object;
  readonly updated?: number;
  readonly waiting?: object;
}

async function reportRollout({ updated = 0, ...rest }: ReportedRollout): Promise<void> {
  await reportSet(installed.server.client, 'general', {
    counts: { selected: 6, updated },
    updateRevision: 'r-5d41402a',
    ...rest,
  });
}

async function startRepair(machine: string): Promise<string> {
  const { client } = installed.server;
  await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name: machine } });
  const body = { status: { nodeInfo: { bootID: 'boot-1' } } };
  await client.patch(NODES, { name: machine }, { type: 'merge', body }, { subresource: 'status' });
  return await repairer.release({ machine, step: 'RestartService', with: { service: 'kubelet' } });
}

async function reportJob(name: string, status: object): Promise<void> {
  const object = {
    apiVersion: API_VERSION,
    kind: 'RemedyOperationJob',
    metadata: { name },
    status: { conditions: [], ...status },
  };
  const options = { fieldManager: MANAGER_REMEDYJOB, force: true, subresource: 'status' };
  await remedyjob.apply(REMEDY_OPERATION_JOBS, object, options);
}
