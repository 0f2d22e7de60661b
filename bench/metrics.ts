/**
 * What metrics cost in a cluster of 10,000 machines (DAT-12): a scrape of the real registrations of `kubenode controllers` over HTTP,
 * with rules, component sets and components that flap. The baseline is a scrape of the same fleet with one series a machine.
 */
import { get } from 'node:http';
import { cpuUsage } from 'node:process';
import type { Machine } from '../src/api/generated/types.ts';
import { registerRemedyMetrics } from '../src/controllers/remedyjob/metrics.ts';
import { startHealthServer } from '../src/kube/process/health.ts';
import type { Log } from '../src/kube/process/log.ts';
import { createMetrics, type Metrics } from '../src/kube/process/metrics.ts';
import { createRuntimeMetrics } from '../src/kube/process/metrics-runtime.ts';
import { registerFleetMetrics, registerMachineInfo } from '../src/observability/fleet/register.ts';
import { createSystemClock } from '../src/os/system-clock.ts';
import { jobSpec } from '../test/controllers/remedyjob/jobs.ts';
import { ago, condition, machine } from '../test/support/builders.ts';
import { type Bench, type BenchResult, percentile } from './bench.ts';

const MACHINES = 10_000;
const SCRAPES = 20;
/** Names that people write: more of each than a metric keeps apart. */
const NAMES = 1000;
const COMPONENTS = 12;
const MAX_SERIES = 20_000;
const MAX_MS = 300;
const MAX_MIB = 30;

export const bench: Bench = {
  name: 'metrics',
  what: `${SCRAPES} scrapes of ${MACHINES} machines that flap between them, against one series a machine`,
  run,
};

const clock = createSystemClock();
const quiet: Log = { debug() {}, info() {}, warn() {}, error() {}, with: () => quiet };

async function run(): Promise<BenchResult> {
  const fleets = [0, 1].map(fleetOf);
  const before = heapMiB();
  const metrics = createMetrics();
  const flap = register(metrics, fleets);
  const ours = await scrapes(metrics, flap);
  const usedMiB = heapMiB() - before;
  const naive = createMetrics();
  naive.gauge({
    name: 'machine_ready',
    help: 'One series a machine.',
    labels: { machine: { of: 'machines', most: MACHINES } },
    maxSeries: MACHINES,
    read: () => (fleets[0] ?? []).map(({ metadata }) => [{ machine: metadata.name }, 1]),
  });
  const baseline = await scrapes(naive, () => undefined);
  return {
    measured: {
      series: ours.series,
      scrapeP95Ms: ours.p95Ms,
      scrapeCpuP95Ms: ours.cpuP95Ms,
      heapMiB: usedMiB,
      kilobytes: ours.kilobytes,
    },
    baseline: {
      series: baseline.series,
      scrapeP95Ms: baseline.p95Ms,
      scrapeCpuP95Ms: baseline.cpuP95Ms,
      kilobytes: baseline.kilobytes,
    },
    ratios: { series: ours.series / baseline.series },
    gates: [
      { what: 'series', value: ours.series, atMost: MAX_SERIES },
      { what: 'series added by flapping', value: ours.series - ours.firstSeries, atMost: 0 },
      { what: 'milliseconds of a scrape (p95)', value: ours.p95Ms, atMost: MAX_MS },
      { what: 'MiB of heap', value: usedMiB, atMost: MAX_MIB },
    ],
  };
}

function hasSynced(): boolean {
  return true;
}

/** Returns what changes the whole fleet between two scrapes. */
function register(metrics: Metrics, fleets: readonly (readonly Machine[])[]): (round: number) => void {
  let current = fleets[0] ?? [];
  createRuntimeMetrics(metrics);
  const jobs = { store: { hasSynced, list: () => [] } };
  const machines = { store: { hasSynced, list: () => [...current] } };
  registerFleetMetrics(metrics, { machines, jobs }, clock);
  registerMachineInfo(metrics, machines);
  const remedy = registerRemedyMetrics(metrics);
  for (let index = 0; index < NAMES; index += 1) {
    const spec = jobSpec();
    const job = { spec: { ...spec, cause: { ...spec.cause, remedier: `rule-${index}` } } };
    remedy.began(job);
    remedy.settled(job, { outcome: { class: 'Succeeded' }, timeline: {} }, []);
  }
  return (round) => {
    current = fleets[round % fleets.length] ?? [];
  };
}

/** In odd rounds every second machine is out of service, and waits for a repair by a rule of its own. */
function fleetOf(round: number): readonly Machine[] {
  return Array.from({ length: MACHINES }, (_, index) => {
    const isOut = (index + round) % 2 === 0;
    const remedyWaits = [{ rule: `rule-${index % NAMES}`, reason: 'NodeBusy', since: ago(60) }];
    const components = Array.from({ length: COMPONENTS }, (__, own) => ({
      name: `c-${(index + own * 7) % NAMES}`,
      state: 'Committed' as const,
      currentRef: 'c-1.0',
    }));
    return machine(`m-${index}`, {
      status: {
        conditions: [
          condition('Ready', isOut ? 'False' : 'True'),
          condition('AgentReady', isOut ? 'Unknown' : 'True'),
        ],
        node: { establishedAt: ago(9000) },
        components,
        ...(isOut ? { remedyWaits } : {}),
      },
    });
  });
}

interface Scrapes {
  readonly series: number;
  readonly firstSeries: number;
  readonly kilobytes: number;
  readonly p95Ms: number;
  readonly cpuP95Ms: number;
}

async function scrapes(metrics: Metrics, flap: (round: number) => void): Promise<Scrapes> {
  const server = await startHealthServer({ port: 0, metrics, clock, log: quiet });
  try {
    const found: { readonly ms: number; readonly cpuMs: number; readonly text: string }[] = [];
    for (let round = 0; round < SCRAPES; round += 1) {
      flap(round);
      // oxlint-disable no-await-in-loop -- one scrape after the other, as Prometheus does it
      await clock.sleep(1000);
      const [began, used] = [clock.monotonicMs(), cpuUsage()];
      const text = await read(`${server.url}/metrics`);
      // oxlint-enable no-await-in-loop
      const { user, system } = cpuUsage(used);
      found.push({ ms: clock.monotonicMs() - began, cpuMs: (user + system) / 1000, text });
    }
    const counts = found.map(({ text }) => seriesIn(text));
    return {
      cpuP95Ms: percentile(
        found.map(({ cpuMs }) => cpuMs),
        0.95,
      ),
      series: Math.max(...counts),
      // The first scrape has no note about series that are left out.
      firstSeries: counts[1] ?? 0,
      kilobytes: Math.max(...found.map(({ text }) => text.length)) / 1000,
      p95Ms: percentile(
        found.map(({ ms }) => ms),
        0.95,
      ),
    };
  } finally {
    await server.close();
  }
}

function seriesIn(text: string): number {
  return text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
}

function read(url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.once('end', () => resolve(text)).once('error', reject);
    }).once('error', reject);
  });
}

function heapMiB(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed / 2 ** 20;
}
