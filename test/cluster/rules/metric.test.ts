/** A rule that reads Prometheus, in `kubenode controllers` with the installed rights, and as a person explains it. */
import type { ChildProcess } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NODE_REMEDIERS } from '../../../src/api/generated/resources.ts';
import type { NodeRemedier } from '../../../src/api/generated/types.ts';
import {
  MANAGER_SYNC,
  PRINCIPAL_CONTROLLERS,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { metric } from '../../../src/constructs/facts.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { type PrometheusApi, startPrometheusApi } from '../../support/prometheus-api.ts';
import { remedier } from '../../support/remediers.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { declareMachine, run } from '../cli/rollout-fixture.ts';
import { ACCOUNTS } from '../controllers/identity-controllers.ts';
import { killed, startControllers } from '../defender/processes.ts';

const QUERY = 'max by (node) (max_over_time(temperature[10m]))';
const NAMES = ['m-1', 'm-2', 'm-3'];
const measured = (value: number): object => ({ metric: { [QUERY]: { value } } });
const HOT = {
  '/mode': 'Observe',
  '/rule': { conditions: metric(QUERY).value.above(90) },
  '/tests': [
    { name: 'hot', expect: 'Match', given: measured(95) },
    { name: 'cool', expect: 'NoMatch', given: measured(40) },
    { name: 'not measured', expect: 'Indeterminate', given: {} },
  ],
};

describe('a rule that reads a metric', { shuffle: false }, () => {
  let installed: InstalledServer;
  let prometheus: PrometheusApi;
  let controllers: ChildProcess | undefined;

  beforeAll(async () => {
    installed = await startInstalledServer();
    prometheus = await startPrometheusApi();
    prometheus.answer = () => ({ nodes: { 'm-1': '95', 'm-2': '40' } });
    const { client } = installed.server;
    for (const name of NAMES) {
      await declareMachine(client, name, {}, { pool: 'general' });
      await client.create(NODES, { apiVersion: 'v1', kind: 'Node', metadata: { name } });
    }
    const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC), ACCOUNTS);
    const rule = remedier(HOT, { name: 'hot', annotations: { 'kubenode.dev/commit': '4f2c9e1a77b0' } });
    await sync.apply(NODE_REMEDIERS, rule, { fieldManager: MANAGER_SYNC });
    const user = serviceAccountUser(PRINCIPAL_CONTROLLERS);
    const kubeconfig = await installed.server.kubeconfigFor({ user, groups: ACCOUNTS });
    controllers = startControllers(kubeconfig, '--prometheus-url', prometheus.url);
  });
  afterAll(async () => {
    if (controllers) await killed(controllers);
    await prometheus?.close();
    await installed?.stop();
  });

  async function explain(machine: string, ...more: string[]): Promise<string> {
    const { stdout } = await run(installed, 'rules', 'explain', machine, '--rule', 'hot', ...more);
    return stdout.replaceAll(/\s+/g, ' ');
  }

  async function status(): Promise<NodeRemedier['status']> {
    return (await installed.server.client.get<NodeRemedier>(NODE_REMEDIERS, { name: 'hot' })).status;
  }

  it('DAT-09 matches the machines whose sample does, by one query for all', async () => {
    await expect.poll(async () => (await status())?.matchedMachines).toEqual(['m-1']);
    expect(await status()).toMatchObject({ counts: { matched: 1, indeterminate: 1 } });
    expect(new Set(prometheus.queries)).toEqual(new Set([QUERY]));
    expect(prometheus.queries.length).toBeLessThan(NAMES.length);
  });

  it('DAT-09 follows the next answer: a machine that cooled down matches no more, and one that is new does', async () => {
    prometheus.answer = () => ({ nodes: { 'm-1': '60', 'm-2': '40', 'm-3': '99' } });
    await expect.poll(async () => (await status())?.matchedMachines).toEqual(['m-3']);
  });

  it('R29 DAT-09 is explained with the answer of now, or with why there is none', async () => {
    expect(await explain('m-1')).toContain(
      'no Prometheus is configured: start this program with --prometheus-url',
    );
    const asked = ['--prometheus-url', prometheus.url];
    prometheus.answer = () => ({ status: 503 });
    expect(await explain('m-1', ...asked)).toContain('expected status 200, got 503');
    prometheus.answer = () => ({ nodes: { 'm-1': '91.5' } });
    expect(await explain('m-1', ...asked)).toContain('value is 91.5');
    expect(await explain('m-2', ...asked)).toContain('the query has no sample for the machine');
  });
});
