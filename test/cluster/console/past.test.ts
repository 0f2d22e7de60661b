/** The lines of a day on the page, from a real Prometheus. */
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildConsolePage } from '../../../scripts/bundle-console.ts';
import { openPast } from '../../../src/cli/commands/console/past.ts';
import type { ConsoleServer } from '../../../src/console/server/server.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { launchBrowser, noBrowserReason, openPage } from '../../support/browser.ts';
import { hasPrometheus, type PrometheusServer, startPrometheusWithPast } from '../../support/prometheus.ts';
import { tempFolder } from '../../support/temp.ts';
import { BUSY_STATE } from './busy-state.ts';
import { pastSamples } from './past-samples.ts';
import { servePage, settable } from './served-page.ts';

const clock = createSystemClock();
const folder = tempFolder('page');
let browser: Browser;
let prometheus: PrometheusServer;
const servers: ConsoleServer[] = [];

/** A console beside this Prometheus. */
async function serve(prometheusUrl: string): Promise<string> {
  const past = openPast({ clock }, { prometheusUrl });
  if (!past) throw new Error('a Prometheus is set');
  const server = await servePage(folder, { ...settable(BUSY_STATE), past: (range) => past(range) });
  servers.push(server);
  return server.url;
}

describe.skipIf(noBrowserReason !== undefined || !hasPrometheus)('the past on the page', () => {
  beforeAll(async () => {
    await buildConsolePage(folder);
    const samples = pastSamples(Math.floor(clock.now().getTime() / 1000), ['updated']);
    [browser, prometheus] = await Promise.all([launchBrowser(), startPrometheusWithPast(samples)]);
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all(servers.map(async (server) => await server.close()));
    await prometheus?.stop();
  });

  it('CON-30 is read from Prometheus for each range, with its peaks, and names the metric that is missing', async () => {
    const { page, problems } = await openPage(browser, `${await serve(prometheus.url)}#/health?range=24h`);
    await page.getByText(/machines in trouble: \d+ now, 14 at most/).waitFor();
    await page.getByText(/machines Ready: 9,\d+ now, 9,7\d+ at least/).waitFor();
    await page
      .getByText(
        'machines updated by their rollouts: Prometheus has no kubenode_rollout_machines in this range',
      )
      .waitFor();
    await page.getByText('machines updated by their rollouts: not known').waitFor();
    await page.getByText(/seconds since sync heard of a cluster: \d+ now, 6 at most/).waitFor();
    await page.getByRole('link', { name: '15 min' }).click();
    await page.getByText(/machines in trouble: 2 now, 2 at most/).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });

  it('CON-30 has a gap where nothing was scraped', async () => {
    const past = openPast({ clock }, { prometheusUrl: prometheus.url });
    const answer = await past?.('24h');
    const values = answer?.lines.ready?.map((value) => (value === null ? ' ' : 'x')).join('') ?? '';
    // An hour of steps of 720 s without scrapes, less the time for which Prometheus takes the last sample.
    expect(values).toMatch(/^x{60,80} {2,5}x{35,45}$/);
  });

  it('CON-30 shows the memory of the console while no Prometheus answers, with the reason', async () => {
    const { page, problems } = await openPage(browser, `${await serve('http://127.0.0.1:9')}#/health`);
    await page.getByText('Prometheus has none of these lines').waitFor();
    await page.getByText(/machines Ready, .*: .*(ECONNREFUSED|bad port)/).waitFor();
    await page.getByText('Shown is what the console remembers').waitFor();
    await page.getByText(/machines in trouble: 2 now, 2 at most/).waitFor();
    expect(problems).toEqual([]);
    await page.context().close();
  });
});
