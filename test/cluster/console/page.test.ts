/** The page of the console in a real browser, on a real API server whose objects the tests change. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { parse, stringify } from 'yaml';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { runCommandLine } from '../../../src/cli/run.ts';
import { PAGE_FOLDER } from '../../../src/console/server/page-files.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { launchBrowser, noBrowserReason, openPage, type WatchedPage } from '../../support/browser.ts';
import { eventually } from '../../support/eventually.ts';
import { tempFolder } from '../../support/temp.ts';
import { type TestIo, testIo } from '../../support/test-io.ts';
import type { InstalledServer } from '../api/installed-server.ts';
import { declareCluster, startHub } from '../cli/hub-fixture.ts';
import { createRepairFixture, type RepairFixture } from '../cli/repair-fixture.ts';
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
let repairs: RepairFixture;
let watched: WatchedPage | undefined;

if (noBrowserReason !== undefined) process.stderr.write(`the page is not tested: ${noBrowserReason}\n`);

describe.skipIf(noBrowserReason !== undefined)('the page of the console', () => {
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
  });
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
    const page = await open('rollouts');
    const rollout = page.locator('#rollouts').getByRole('article', { name: 'Rollout general in prod' });
    await reportRollout({ phase: 'Rolling', batch: { index: 0, of: 3, size: 1, updated: 0 } });
    await rollout.getByText('Batch 1 of 3: 0 of 1 updated').waitFor();
    await reportRollout({ phase: 'Rolling', batch: { index: 1, of: 3, size: 2, updated: 1 }, updated: 2 });
    await rollout.getByText('Batch 2 of 3: 1 of 2 updated').waitFor();
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
    const job = await repairs.startRepair('node-a1');
    await tile(page, 'node-a1, Ready, in repair').waitFor();
    await page.getByRole('link', { name: 'Limits', exact: true }).click();
    await page.locator('#limits').getByText('prod/node-a1: RestartService').waitFor();
    await page.getByRole('link', { name: 'Repairs', exact: true }).click();
    const repair = page.getByRole('article', { name: 'Repair of node-a1 in prod' });
    await repair.getByText('○ acted: not yet').waitFor();
    await repairs.reportRepair(job, { phase: 'Running', timeline: { executedAt: now() } });
    await repair.getByText('● acted').waitFor();
    await repairs.reportRepair(job, {
      phase: 'Succeeded',
      outcome: { class: 'Succeeded' },
      timeline: { executedAt: now(), verifiedAt: now(), settledAt: now() },
    });
    await repair.getByText('● settled').waitFor();
    await repairs.repairer.finish(job, 'Succeeded');
    expect(problems()).toEqual([]);
  });

  it('explains in the detail of a machine why it waits and what ends the wait', async () => {
    await phase('node-b1', 'NotReady', { reason: 'AgentSilent', message: 'no heartbeat for 90 s' });
    const page = await open();
    await tile(page, 'node-b1, NotReady, AgentSilent').click();
    const dialog = page.getByRole('dialog', { name: 'prod/node-b1' });
    await dialog.getByText('No set selects it, and none is pinned.').waitFor();
    await dialog.getByText('AgentSilent: no heartbeat for 90 s', { exact: true }).waitFor();
    // In the sentence of the page, and in the answer of why.
    await dialog.getByRole('code').filter({ hasText: 'kubenode machine show node-b1' }).waitFor();
    await dialog.locator('.words').getByText('kubenode machine show node-b1').waitFor();
    await dialog
      .locator('.words')
      .getByText(/^(DENIED|PERMITTED) +Reboot/)
      .waitFor();
    await phase('node-b1', 'Ready');
    await dialog.getByText('It waits for nothing.').waitFor();
    expect(problems()).toEqual([]);
  });

  it('shows who cordoned the Node of a machine, since when, and what ends a cordon of a person', async () => {
    const page = await open();
    await phase('node-a2', 'Ready', undefined, {});
    const cordoned = tile(page, 'node-a2, Ready, cordoned by others');
    await cordoned.waitFor();
    expect(await cordoned.textContent()).toBe('U');
    await cordoned.click();
    const dialog = page.getByRole('dialog', { name: 'prod/node-a2' });
    await dialog.getByText(/^cordoned by a person or another tool for \d+s/).waitFor();
    await dialog.getByText('kubectl uncordon node-a2').waitFor();
    await phase('node-a2', 'Ready', undefined, { grant: 'g-7-0' });
    await dialog.getByText(/^cordoned by kubenode for grant g-7-0 for \d+s$/).waitFor();
    await tile(page, 'node-a2, Ready, cordoned by kubenode').waitFor();
    await phase('node-a2', 'Ready');
    await dialog.getByText('cordoned by').waitFor({ state: 'detached' });
    expect(problems()).toEqual([]);
  });
});

async function open(name = 'fleet'): Promise<Page> {
  watched = await openPage(browser, `${url}#/${name}`);
  return watched.page;
}

/** Errors in the console of the browser, and requests to anywhere else. */
const problems = (): readonly string[] => watched?.problems ?? ['no page is open'];

const tile = (page: Page, name: string): ReturnType<Page['getByRole']> =>
  page.locator('#fleet').getByRole('button', { name });

const now = (): string =>
  clock
    .now()
    .toISOString()
    .replace(/\.\d+Z$/, 'Z');

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
  repairs = await createRepairFixture(installed);
}

async function phase(name: string, value: string, waiting?: object, cordon?: object): Promise<void> {
  const status = {
    phase: value,
    ...(waiting && { waiting: { since: now(), ...waiting } }),
    ...(cordon && { node: { cordon: { since: now(), ...cordon } } }),
  };
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
