/** What the real processes serve at /metrics on a real API server, against the table of metrics. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import { METRIC_TABLE, type MetricProcess } from '../../../src/observability/metrics/table.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { asGrafana, describedPanels } from '../../observability/dashboards/described.ts';
import { typesIn } from '../../observability/metrics/served.ts';
import { machine } from '../../support/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { hasPrometheus, startPrometheus } from '../../support/prometheus.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { killed } from '../defender/processes.ts';

const COMMANDS: Readonly<Record<Exclude<MetricProcess, 'agent'>, readonly string[]>> = {
  controllers: ['controllers', '--maintenance-port', '0', '--machine-info'],
  hosting: ['hosting', '--dir', join(tempFolder('hosting'), 'hosting')],
  sync: ['sync', '--cache', join(tempFolder('sync'), 'cache'), '--webhook-port', '0'],
};

let installed: InstalledServer;
const running: ChildProcess[] = [];

beforeAll(async () => {
  installed = await startInstalledServer();
});

afterAll(async () => {
  await Promise.all(running.map(killed));
  await installed.stop();
});

const launched = new Map<readonly string[], Promise<string>>();

/** Starts the process once, as an administrator, who impersonates its account. Returns the address of its metrics. */
async function launch(command: readonly string[]): Promise<string> {
  const found = launched.get(command) ?? spawnProcess(command);
  launched.set(command, found);
  return await found;
}

async function spawnProcess(command: readonly string[]): Promise<string> {
  const port = await findFreePort();
  const flags = ['--kubeconfig', installed.server.kubeconfig, '--port', String(port), '--log-level', 'warn'];
  const args = ['src/cli/main.ts', ...command, ...flags];
  running.push(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }));
  return `http://127.0.0.1:${port}/metrics`;
}

async function start(command: readonly string[]): Promise<() => Promise<string>> {
  const url = await launch(command);
  return async () => await (await fetch(url)).text();
}

describe('the metrics of a real process', () => {
  it.each(Object.entries(COMMANDS))(
    'DAT-01 are exactly those that the table has for %s',
    async (process, command) => {
      const own = METRIC_TABLE.filter(({ processes }) => processes.includes(process));
      const want = own.map(({ name, type }) => `kubenode_${name} ${type}`).toSorted();
      const read = await start(command);
      await expect.poll(async () => typesIn(await read().catch(() => ''))).toEqual(want);
      expect(await read()).toContain(`kubenode_build_info{process="${process}"`);
    },
  );

  it('DAT-02 count the machines that the API server has, once they are all known', async () => {
    const { apiVersion, kind, spec } = machine('counted');
    const metadata = { name: 'counted' };
    await installed.server.client.create(MACHINES, {
      apiVersion,
      kind,
      metadata,
      spec: { ...spec, components: [] },
    });
    const read = await start(['controllers']);
    await expect
      .poll(async () =>
        (await read().catch(() => '')).split('\n').filter((line) => line.startsWith('kubenode_machines{')),
      )
      .toContain('kubenode_machines{state="Joining"} 1');
  });

  it.skipIf(!hasPrometheus)(
    'DAT-07 give a number to each large one of the dashboards, in a real Prometheus that scrapes them',
    async () => {
      const targets = Object.entries(COMMANDS).map(async ([process, command]) => {
        return [process, new URL(await launch(command)).host] as const;
      });
      const prometheus = await startPrometheus(Object.fromEntries(await Promise.all(targets)));
      try {
        const ready = 'count(kubenode_build_info) == 3 and on () kubenode_machines';
        const find = async (): Promise<true | undefined> =>
          (await prometheus.query(ready).catch(() => [])).length > 0 ? true : undefined;
        await eventually(find, 'Prometheus has not scraped the three processes');
        const queries = describedPanels().flatMap(([name, panel]) =>
          panel.queries.map(({ expr }) => ({ name, expr, isLarge: panel.form === 'Now' })),
        );
        const empty: string[] = [];
        for (const { name, expr, isLarge } of queries) {
          const found = await prometheus.query(asGrafana(expr));
          if (isLarge && found.length === 0) empty.push(name);
        }
        expect(empty).toEqual(Object.keys(WITHOUT_DATA));
      } finally {
        await prometheus.stop();
      }
    },
  );
});

/** The panels without a number here, each with the reason. */
const WITHOUT_DATA: Readonly<Record<string, string>> = {
  'kubenode / Repairs and Defender: Dark zones': 'this cluster has no DefenderPolicy',
  'kubenode / Agents: First certificate ends in': 'the only Machine never joined',
  'kubenode / Nodes: Nodes measured': 'no node-exporter runs here',
  'kubenode / Nodes: Fullest disk': 'no node-exporter runs here',
  'kubenode / Nodes: Fullest memory': 'no node-exporter runs here',
  'kubenode / Nodes: Busiest CPU': 'no node-exporter runs here',
};
