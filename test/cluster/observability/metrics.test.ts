/** What the real processes serve at /metrics on a real API server, against the table of metrics. */
import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import { METRIC_TABLE, type MetricProcess } from '../../../src/observability/metrics/table.ts';
import { findFreePort } from '../../../src/os/net/ports.ts';
import { typesIn } from '../../observability/metrics/served.ts';
import { machine } from '../../support/builders.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { killed } from '../defender/processes.ts';

const COMMANDS: Readonly<Record<Exclude<MetricProcess, 'agent'>, readonly string[]>> = {
  controllers: ['controllers', '--maintenance-port', '0'],
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

/** Starts the process as an administrator, who impersonates its account. */
async function start(command: readonly string[]): Promise<() => Promise<string>> {
  const port = await findFreePort();
  const flags = ['--kubeconfig', installed.server.kubeconfig, '--port', String(port), '--log-level', 'warn'];
  const args = ['src/cli/main.ts', ...command, ...flags];
  running.push(spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] }));
  return async () => await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
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
});
