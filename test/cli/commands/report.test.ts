/** The command against a real Prometheus with recorded samples. It is in Debian's package prometheus; where it is missing these tests are skipped. */
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { runCommandLine } from '../../../src/cli/run.ts';
import type { FleetReport } from '../../../src/observability/report/report.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { tempFolder } from '../../support/temp.ts';
import { testIo } from '../../support/test-io.ts';

const hasPrometheus = ['prometheus', 'promtool'].every((name) => spawnSync(name, ['--version']).status === 0);
const END = new Date('2026-01-01T06:00:00Z');
const MINUTES = 360;
/** Lookback of Prometheus is five minutes. */
const STEP = 4;

type ValueAt = (progress: number) => number;
const steady =
  (value: number): ValueAt =>
  () =>
    value;
/** A counter that begins at 0 and ends there. */
const upTo =
  (value: number): ValueAt =>
  (progress) =>
    value * progress;

/** Two replicas of the controllers of cluster a, those of b, and sync, of which the last two hours are missing. */
const SERIES: readonly (readonly [name: string, valueAt: ValueAt])[] = [
  ['kubenode_build_info{process="controllers",cluster="a"}', steady(1)],
  ['kubenode_build_info{process="sync"}', (progress) => (progress > 0.66 ? Number.NaN : 1)],
  ['kubenode_machines{state="Ready",cluster="a"}', steady(990)],
  ['kubenode_machines{state="NotReady",cluster="a"}', steady(10)],
  ['kubenode_sync_releases_total{pipeline="fleet",event="Started"}', upTo(8)],
  ['kubenode_sync_releases_total{pipeline="fleet",event="Proven"}', upTo(6)],
  ['kubenode_sync_releases_total{pipeline="fleet",event="Failed"}', upTo(1)],
  ['kubenode_sync_releases_total{pipeline="fleet",event="Reverted"}', upTo(1)],
  ['kubenode_sync_fleet_lead_seconds_bucket{pipeline="fleet",le="3600"}', upTo(0)],
  ['kubenode_sync_fleet_lead_seconds_bucket{pipeline="fleet",le="7200"}', upTo(6)],
  ['kubenode_sync_fleet_lead_seconds_bucket{pipeline="fleet",le="+Inf"}', upTo(6)],
  ['kubenode_component_machines{component="kubelet",state="Desired",cluster="a",instance="1"}', steady(7)],
  ['kubenode_component_machines{component="kubelet",state="Desired",cluster="a",instance="2"}', steady(7)],
  ['kubenode_component_machines{component="kubelet",state="Desired",cluster="b",instance="3"}', steady(5)],
  ['kubenode_component_machines{component="kubelet",state="Differing",cluster="b",instance="3"}', steady(2)],
  ['kubenode_remedy_faults_total{rule="disk | <full>",fault="Disk"}', upTo(12)],
  ['kubenode_remedy_faults_total{rule="idle",fault="Disk"}', steady(0)],
  ['kubenode_defender_decisions_total{action="Reboot",reason="Granted"}', upTo(50)],
  ['kubenode_defender_decisions_total{action="Reboot",reason="ConcurrencyPool"}', upTo(9)],
];

function openMetrics(): string {
  const lines = SERIES.flatMap(([name, valueAt]) =>
    Array.from({ length: MINUTES / STEP + 1 }, (_, index) => {
      const value = valueAt((index * STEP) / MINUTES);
      const seconds = END.getTime() / 1000 - (MINUTES - index * STEP) * 60;
      return Number.isNaN(value) ? '' : `${name} ${value} ${seconds}`;
    }).filter((line) => line !== ''),
  );
  return [...lines, '# EOF', ''].join('\n');
}

let url = '';
let prometheus: ChildProcess | undefined;

async function startPrometheus(): Promise<void> {
  const folder = tempFolder('prometheus');
  writeFileSync(join(folder, 'samples'), openMetrics());
  writeFileSync(join(folder, 'prometheus.yml'), 'scrape_configs: []\n');
  const data = join(folder, 'data');
  await promisify(execFile)('promtool', [
    'tsdb',
    'create-blocks-from',
    'openmetrics',
    join(folder, 'samples'),
    data,
  ]);
  const port = await findFreePort();
  url = `http://127.0.0.1:${port}`;
  prometheus = spawn(
    'prometheus',
    [
      `--config.file=${join(folder, 'prometheus.yml')}`,
      `--storage.tsdb.path=${data}`,
      '--storage.tsdb.retention.time=100y',
      `--web.listen-address=127.0.0.1:${port}`,
    ],
    { stdio: 'ignore' },
  );
  await vi.waitFor(
    async () => {
      if (!(await isReady(url))) throw new Error('Prometheus is not ready');
    },
    { interval: 100 },
  );
}

async function isReady(server: string): Promise<boolean> {
  return await fetch(`${server}/-/ready`).then(
    ({ ok }) => ok,
    () => false,
  );
}

async function run(...args: readonly string[]) {
  const io = testIo({ clock: { ...createSystemClock(), now: () => END } });
  const exitCode = await runCommandLine(io, ['report', '--prometheus-url', url, ...args]);
  return { exitCode, stdout: io.stdout, stderr: io.stderr };
}

describe.skipIf(!hasPrometheus)('DAT-11 kubenode report with a real Prometheus', () => {
  beforeAll(startPrometheus, 30_000);
  afterAll(async () => {
    if (!prometheus) return;
    prometheus.kill();
    await once(prometheus, 'exit');
  });

  it('DAT-11 has the figures of the period as data, and names what is missing', async () => {
    const { exitCode, stdout, stderr } = await run('--since', '6h', '-o', 'json');
    const report = JSON.parse(stdout) as FleetReport;
    const rows = (id: string): readonly unknown[] => {
      const section = report.sections.find((each) => each.id === id);
      return (section?.rows ?? []).map((row) => [
        ...row.keys,
        ...row.values.map((value) => (value === null ? null : Number(value.toFixed(2)))),
      ]);
    };
    expect(rows('slos')).toContainEqual(['machines-ready', 0.99, 0.99]);
    // Eight of a quarter of a day; the lead time is in the bucket from one to two hours.
    expect(rows('delivery')).toEqual([['fleet', 32, 6, 1, 1, 0.25, 5400, 7020, null]]);
    expect(rows('coverage')).toEqual([['kubelet', 12, null, null, null, 2]]);
    expect(rows('faults')).toEqual([['disk | <full>', 'Disk', 12]]);
    expect(rows('denials')).toEqual([['Reboot', 'ConcurrencyPool', 9]]);
    expect(exitCode).toBe(2);
    expect(report.missing).toContain(
      'Rollouts of components: Prometheus has no kubenode_component_rollouts_total in this period',
    );
    expect(report.missing.join('\n')).toMatch(/kubenode sync was scraped in 6\d % of this period/);
    expect(report.missing.join('\n')).not.toContain('kubenode controllers');
    expect(stderr).toContain('warning: Rollouts of components: Prometheus has no');
  });

  it('DAT-11 is Markdown in which the name of a rule is text', async () => {
    const { stdout } = await run('--since', '6h');
    expect(stdout).toContain('# Fleet report, 2026-01-01T00:00:00.000Z to 2026-01-01T06:00:00.000Z');
    expect(stdout).toContain('**This report is not complete.**');
    expect(stdout).toContain(String.raw`| disk \| &lt;full&gt; | Disk | 12 |`);
    expect(stdout).toContain('| machines-ready | 99 % | 99.5 % | **no** |');
  });

  it('DAT-11 has no data of a period before there was any', async () => {
    const early = testIo({
      clock: { ...createSystemClock(), now: () => new Date('2025-06-01T00:00:00Z') },
    });
    const exitCode = await runCommandLine(early, ['report', '--prometheus-url', url]);
    expect(exitCode).toBe(2);
    expect(early.stdout).toContain('kubenode controllers was not scraped in this period');
    expect(early.stdout).toContain('## Top faults\n\nNo data.');
  });
});

describe('kubenode report without a Prometheus', () => {
  it('DAT-11 fails with the address if Prometheus does not answer', async () => {
    const port = await findFreePort();
    const io = testIo();
    const args = ['report', '--prometheus-url', `http://127.0.0.1:${port}`];
    expect(await runCommandLine(io, args)).toBe(69);
    expect(io.stdout).toBe('');
    expect(io.stderr).toContain('error: Prometheus does not answer');
    expect(io.stderr).toContain(`where: http://127.0.0.1:${port}`);
  });

  it('DAT-08 names both ways to a Prometheus if none is given and none runs beside a local fleet', async () => {
    const io = testIo({ env: { XDG_STATE_HOME: '/nonexistent' } });
    expect(await runCommandLine(io, ['report'])).toBe(64);
    expect(io.stderr).toContain('hint: pass --prometheus-url, or run: kubenode start --metrics');
  });

  it.each([
    ['--since', '1m', '--since must be from 5m to 90d'],
    ['--cluster-label', 'a) or (b', 'Expected the name of a label'],
  ])('DAT-11 refuses a period or a label that no query may have: %s %s', async (flag, value, text) => {
    const io = testIo();
    const code = await runCommandLine(io, ['report', '--prometheus-url', 'http://127.0.0.1:1', flag, value]);
    expect(code).toBe(64);
    expect(io.stderr).toContain(text);
  });
});
