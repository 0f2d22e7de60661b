/** `kubenode cluster create|list|kubeconfig|delete` on a real hub: with the status that hosting would write, and once with hosting itself. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  CLUSTERS,
  DEFENDER_LEDGERS,
  DEFENDER_POLICIES,
  MACHINES,
} from '../../../src/api/generated/resources.ts';
import type { Cluster, DefenderLedger, DefenderPolicySpec } from '../../../src/api/generated/types.ts';
import {
  FLEET_DEFAULT,
  LEDGER,
  MANAGER_HOSTING,
  MANAGER_SYNC,
  PRINCIPAL_HOSTING,
  PRINCIPAL_SYNC,
  serviceAccountUser,
} from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { connect } from '../../../src/kube/client/connect.ts';
import { unlessMissing } from '../../../src/kube/client/errors.ts';
import { createPrincipal } from '../../../src/local/pki/principal.ts';
import { listProcesses } from '../../../src/local/processes/observe.ts';
import { createSystemClock } from '../../../src/os/system-clock.ts';
import { policy } from '../../defender/builders.ts';
import { eventually } from '../../support/eventually.ts';
import { shellEnv } from '../../support/local-fleet.ts';
import { tempFolder } from '../../support/temp.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { run, start } from './rollout-fixture.ts';

let installed: InstalledServer;
let hub: Client;
const SINCE = '2030-01-01T00:00:00Z';
const dir = join(tempFolder('cluster-hosted'), 'hosting');
let hosting: ChildProcess | undefined;

beforeAll(async () => {
  installed = await startInstalledServer();
  hub = installed.server.client;
});
afterAll(() => installed?.stop());
afterEach(async () => {
  if (hosting && hosting.exitCode === null && hosting.signalCode === null) {
    hosting.kill('SIGKILL');
    await once(hosting, 'exit');
  }
  // What a failed test left behind: only what runs in our folder.
  for (const { pid } of await planeProcesses()) process.kill(pid, 'SIGKILL');
  for (const { metadata } of (await hub.list<Cluster>(CLUSTERS)).items) {
    const body = { metadata: { finalizers: [] }, spec: { deletion: { protection: false } } };
    await hub.patch(CLUSTERS, metadata, { type: 'merge', body });
    await unlessMissing(hub.delete(CLUSTERS, metadata, { uid: metadata.uid ?? '' }));
  }
});

const WAIT = { interval: 250 };
const SINCE_LONG_AGO = '2020-01-01T00:00:00Z';

/** As sync does: rules and limits come from git. */
async function writeDefault(freezes: readonly object[]): Promise<void> {
  const { spec } = policy({ freezes: [...freezes] as DefenderPolicySpec['freezes'] });
  const object = {
    apiVersion: API_VERSION,
    kind: DEFENDER_POLICIES.kind,
    metadata: { name: FLEET_DEFAULT },
    spec,
  };
  const sync = await installed.as(serviceAccountUser(PRINCIPAL_SYNC));
  await sync.apply(DEFENDER_POLICIES, object, { fieldManager: MANAGER_SYNC, force: true });
}

async function planeProcesses(): Promise<readonly { readonly pid: number }[]> {
  return (await listProcesses()).filter(({ command }) => command.some((each) => each.includes(`=${dir}/`)));
}

const read = (name: string): Promise<Cluster | undefined> =>
  unlessMissing(hub.get<Cluster>(CLUSTERS, { name }));

function condition(type: string, isTrue: boolean): object {
  const message = `${type} ${isTrue}`;
  return { type, status: isTrue ? 'True' : 'False', reason: 'Told', message, lastTransitionTime: SINCE };
}

/** What hosting writes. */
async function report(name: string, ready: boolean, stalled = false, hosted: object = {}): Promise<void> {
  const conditions = [condition('ControlPlaneReady', ready), condition('ControlPlaneStalled', stalled)];
  const object = {
    apiVersion: API_VERSION,
    kind: CLUSTERS.kind,
    metadata: { name },
    status: { conditions, hosted },
  };
  await hub.apply(CLUSTERS, object, { fieldManager: MANAGER_HOSTING, force: true, subresource: 'status' });
}

async function declare(name: string, spec: object, fieldManager = 'kubectl'): Promise<void> {
  const object = { apiVersion: API_VERSION, kind: CLUSTERS.kind, metadata: { name }, spec };
  await hub.apply(CLUSTERS, object, { fieldManager });
}

const HOSTED = { environment: 'test', hosted: { driver: 'process', version: 'v1.36.3' } };

describe('kubenode cluster create', () => {
  it('writes a throw-away cluster once, and refuses its name from then on', async () => {
    const dry = await run(installed, 'cluster', 'create', 'ci', '--dry-run');
    expect([dry.exitCode, await read('ci')]).toEqual([0, undefined]);
    const made = await run(installed, 'cluster', 'create', 'ci', '--version', '1.36.3', '-o', 'json');
    expect(JSON.parse(made.stdout)).toMatchObject({ name: 'ci', version: 'v1.36.3', state: 'Pending' });
    expect((await read('ci'))?.spec).toMatchObject({
      environment: 'test',
      deletion: { protection: false },
      hosted: { version: 'v1.36.3', ttlSecondsAfterReady: 86_400 },
    });
    const again = await run(installed, 'cluster', 'create', 'ci', '--no-ttl');
    expect([again.exitCode, again.stderr]).toEqual([65, expect.stringContaining('exists already')]);
    expect((await read('ci'))?.spec.hosted?.ttlSecondsAfterReady).toBe(86_400);
  });

  it.each([
    ['another word than a version', ['--version', 'latest'], 65],
    ['a time to live that is too short', ['--ttl', '10s'], 64],
    ['another word than a time to live', ['--ttl', 'soon'], 64],
  ])('refuses %s, and writes nothing', async (_, flags, exitCode) => {
    expect((await run(installed, 'cluster', 'create', 'ci', ...flags)).exitCode).toBe(exitCode);
    expect(await read('ci')).toBeUndefined();
  });

  it.each<readonly [string, boolean, boolean, number]>([
    ['is ready', true, false, 0],
    ['needs a person', false, true, 3],
  ])('waits until it %s', async (_, ready, stalled, exitCode) => {
    const started = start(installed, ['cluster', 'create', 'ci', '--wait', '-o', 'json']);
    await eventually(() => read('ci'), 'no Cluster');
    await report('ci', false);
    await report('ci', ready, stalled, { readyAt: SINCE });
    expect(await started.code).toBe(exitCode);
    const [state, endsAt] = ready ? ['Ready', '2030-01-02T00:00:00Z'] : ['Stalled', '2030-01-02T00:00:00Z'];
    expect(JSON.parse(started.stdout)).toMatchObject({ state, endsAt });
  });

  it('ends with what it waited for when its time is over, or its Cluster is deleted', async () => {
    const late = await run(installed, 'cluster', 'create', 'ci', '--wait', '--timeout', '1s');
    expect([late.exitCode, late.stdout]).toEqual([
      3,
      expect.stringContaining('no hosting has acted on it yet'),
    ]);
    const started = start(installed, ['cluster', 'create', 'ci-2', '--wait']);
    const { metadata } = await eventually(() => read('ci-2'), 'no Cluster');
    await hub.delete(CLUSTERS, metadata, { uid: metadata.uid ?? '' });
    expect([await started.code, started.stderr]).toEqual([
      3,
      expect.stringContaining('was deleted meanwhile'),
    ]);
  });
});

describe('kubenode cluster list', () => {
  it('shows the hosted clusters and what they wait for, and none that the hub only syncs', async () => {
    await declare('b', HOSTED);
    await declare('a', HOSTED);
    await declare('synced', { environment: 'test', connection: { inCluster: true } });
    await report('a', true);
    const { stdout, exitCode } = await run(installed, 'cluster', 'list');
    const rows = stdout.split('\n').map((line) => line.split(/ {2,}/).slice(0, 3).join(' '));
    expect([exitCode, ...rows]).toEqual([
      0,
      'NAME VERSION STATE',
      'a v1.36.3 Ready',
      'b v1.36.3 Pending',
      '',
    ]);
    const { stdout: json } = await run(installed, 'cluster', 'list', '-o', 'json');
    expect(JSON.parse(json)).toMatchObject({ clusters: [{ name: 'a', state: 'Ready' }, { name: 'b' }] });
  });
});

describe('kubenode cluster delete', () => {
  it('wants the name of a protected cluster again, and changes nothing in a dry run', async () => {
    await declare('kept', HOSTED);
    const refused = await run(installed, 'cluster', 'delete', 'kept');
    expect([refused.exitCode, refused.stderr]).toEqual([65, expect.stringContaining('--confirm kept')]);
    const dry = await run(installed, 'cluster', 'delete', 'kept', '--confirm', 'kept', '--dry-run');
    expect(dry.exitCode).toBe(0);
    expect((await read('kept'))?.metadata.annotations).toBeUndefined();
    const deleted = await run(installed, 'cluster', 'delete', 'kept', '--confirm', 'kept', '--wait');
    expect([deleted.exitCode, deleted.stdout]).toEqual([0, 'Cluster kept was deleted\n']);
    expect(await read('kept')).toBeUndefined();
  });

  it('leaves what git declares, and reports what a deletion waits for', async () => {
    await declare('git', { ...HOSTED, deletion: { protection: false } }, MANAGER_SYNC);
    const refused = await run(installed, 'cluster', 'delete', 'git');
    expect([refused.exitCode, refused.stderr]).toEqual([65, expect.stringContaining('is declared in git')]);
    await declare('slow', { ...HOSTED, deletion: { protection: false } });
    const finalizers = ['kubenode.dev/hosting'];
    await hub.patch(CLUSTERS, { name: 'slow' }, { type: 'merge', body: { metadata: { finalizers } } });
    const waiting = { reason: 'MachinesLeft', message: 'm-1', since: SINCE };
    await report('slow', false, false, { waiting });
    const late = await run(installed, 'cluster', 'delete', 'slow', '--wait', '--timeout', '1s');
    expect([late.exitCode, late.stderr]).toEqual([3, expect.stringContaining('MachinesLeft: m-1')]);
  });
});

describe('kubenode cluster kubeconfig', () => {
  it('is refused where the folder is that of another Cluster, which no wait would change', async () => {
    const folder = join(tempFolder('foreign'), 'clusters', 'ci');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'kubeconfig'), 'of somebody else');
    await declare('ci', HOSTED);
    await report('ci', true, false, { location: `${hostname()}:${folder}` });
    const foreign = await run(installed, 'cluster', 'kubeconfig', 'ci');
    expect([foreign.stdout, foreign.stderr]).toEqual([
      '',
      expect.stringContaining(`${folder} belongs to another Cluster, or its owner is not known`),
    ]);
  });

  it('is refused where hosting has recorded no folder, or another machine', async () => {
    await declare('ci', HOSTED);
    const early = await run(installed, 'cluster', 'kubeconfig', 'ci');
    expect([early.exitCode, early.stdout]).toEqual([69, '']);
    await report('ci', true, false, { location: 'there:/x/clusters/ci' });
    const away = await run(installed, 'cluster', 'kubeconfig', 'ci');
    expect([away.exitCode, away.stderr]).toEqual([
      69,
      expect.stringContaining('is on another machine: there'),
    ]);
  });

  it('HOS-53 a job creates a cluster, uses it as its administrator, and leaves nothing of it', async () => {
    const kubeconfig = await installed.server.kubeconfigFor(createPrincipal(PRINCIPAL_HOSTING));
    const args = ['src/cli/main.ts', 'hosting', '--kubeconfig', kubeconfig, '--dir', dir];
    hosting = spawn(process.execPath, args, { env: shellEnv(), stdio: 'ignore' });
    const made = await run(installed, 'cluster', 'create', 'job', '--ttl', '1h', '--wait');
    expect([made.exitCode, made.stdout]).toEqual([0, expect.stringMatching(/^job +v1.36.3 +Ready/m)]);
    const printed = await run(installed, 'cluster', 'kubeconfig', 'job');
    const admin = await connect({ kubeconfigText: printed.stdout });
    expect((await admin.list(MACHINES)).items).toEqual([]);
    await admin.close();
    const path = await run(installed, 'cluster', 'kubeconfig', 'job', '--path');
    expect(existsSync(path.stdout.trim())).toBe(true);

    // The Defender of the hub decides when a control plane is taken away.
    const until = new Date(+createSystemClock().now() + 3_600_000).toISOString();
    await writeDefault([{ name: 'sale', from: SINCE_LONG_AGO, until, reason: 'sale', risks: ['Node'] }]);
    expect((await run(installed, 'cluster', 'delete', 'job')).exitCode).toBe(0);
    await expect
      .poll(async () => (await read('job'))?.status?.hosted?.waiting?.message, WAIT)
      .toMatch(/^Freeze: freeze sale until/);
    expect(await planeProcesses()).toHaveLength(5);
    await writeDefault([]);
    expect((await run(installed, 'cluster', 'delete', 'job', '--wait')).exitCode).toBe(0);
    const { spec } = await hub.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
    expect(spec.grants['cluster:job']).toMatchObject({ state: 'Settled', outcome: 'Succeeded' });
    expect([await planeProcesses(), readdirSync(join(dir, 'clusters'))]).toEqual([[], []]);
  });
});
