/** `kubenode machine power` against a real API server, our own BMC and our own server of ECS. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger } from '../../../src/api/generated/types.ts';
import { isInFlight } from '../../../src/api/grants.ts';
import { ANNOTATION_SECRET_USE, LEDGER, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { CONFIG, openAlibabaHarness } from '../../providers/alibaba/harness.ts';
import type { EcsServer } from '../../providers/alibaba/server/server.ts';
import { NEVER, requestOf } from '../../providers/contract/harness.ts';
import { node } from '../../support/builders.ts';
import { BMC_PASSWORD, BMC_UUID, startBmc, type TestBmc } from '../../support/redfish/bmc-server.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { applyFleetDefault, patchNodeStatus } from '../defender/objects.ts';
import { run, start } from './rollout-fixture.ts';

let installed: InstalledServer;
let client: Client;

beforeAll(async () => {
  installed = await startInstalledServer();
  ({ client } = installed.server);
  await applyFleetDefault(installed, {
    scope: { nodeSelector: { all: true } },
    concurrency: [{ name: 'many', per: 'Cluster', max: 10 }],
    zones: { haltPercent: 100, minNodes: 100 },
    selfDoubt: { massUnknownPercent: 100 },
    blockers: { minNodeAgeSeconds: 0 },
  });
});
afterAll(() => installed?.stop());

function encoded(text: string): string {
  return Buffer.from(text).toString('base64');
}

async function bmcOf(name: string, spec: object = {}): Promise<TestBmc> {
  const server = await startBmc({ applies: true });
  onTestFinished(async () => await server[Symbol.asyncDispose]());
  const { port, fingerprint } = server.endpoint;
  await client.create(SECRETS, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: `${name}-bmc`,
      namespace: NAMESPACE,
      annotations: { [ANNOTATION_SECRET_USE]: `bmc; 127.0.0.1:${port}` },
    },
    data: { username: encoded('admin'), password: encoded(BMC_PASSWORD) },
  });
  const bmc = {
    address: `https://127.0.0.1:${port}`,
    credentialsRef: { name: `${name}-bmc` },
    certificateFingerprint: fingerprint,
    systemUUID: BMC_UUID,
  };
  await client.create(MACHINES, {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { name },
    spec: { infra: { provider: 'ssh' }, bmc, ...spec },
  });
  const { status, ...its } = node(name);
  await client.create(NODES, its);
  await patchNodeStatus(client, name, status);
  return server;
}

describe('machine power', () => {
  it('prints the state, switches with a grant that is settled, and prints no secret', async () => {
    const server = await bmcOf('n1');
    const state = await run(installed, 'machine', 'power', 'n1', '-o', 'json');
    expect([state.exitCode, JSON.parse(state.stdout)]).toEqual([
      0,
      { machine: 'n1', way: 'BMC', state: 'On' },
    ]);

    const cycle = await run(installed, 'machine', 'power', 'n1', '--cycle', '-o', 'json');
    expect(cycle.exitCode).toBe(0);
    expect(cycle.stderr).not.toContain('error');
    expect(JSON.parse(cycle.stdout)).toMatchObject({ state: 'On', action: 'PowerCycle' });
    expect(server.resets).toEqual([{ ResetType: 'ForceOff' }, { ResetType: 'On' }]);
    expect(server.openSessions()).toBe(0);
    const { spec } = await client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
    const grant = spec.grants['n1'];
    expect([grant?.action, grant && isInFlight(grant)]).toEqual(['PowerCycle', false]);
    expect(state.stdout + state.stderr + cycle.stdout + cycle.stderr).not.toContain(BMC_PASSWORD);
  });

  it('switches nothing that is held, and names the reason', async () => {
    const server = await bmcOf('n2', { hold: { reason: 'new disks', scope: 'All' } });
    const off = await run(installed, 'machine', 'power', 'n2', '--off');
    expect(off.exitCode).toBe(3);
    expect(off.stderr).toContain('new disks');
    expect(server.resets).toEqual([]);
    expect((await run(installed, 'machine', 'power', 'n2', '--on')).exitCode).toBe(0);
  });

  it('refuses two acts at once, and a machine without BMC', async () => {
    await client.create(MACHINES, {
      apiVersion: API_VERSION,
      kind: 'Machine',
      metadata: { name: 'n3' },
      spec: { infra: { provider: 'ssh' } },
    });
    const none = await run(installed, 'machine', 'power', 'n3');
    expect(none.exitCode).toBe(65);
    expect(none.stderr).toContain('Machine n3 nor its entry in a pool has a BMC');
    expect((await run(installed, 'machine', 'power', 'n3', '--on', '--off')).exitCode).toBe(64);
  });

  it('prints the fingerprint of a BMC, and sends it nothing', async () => {
    const server = await bmcOf('n4');
    const address = `https://127.0.0.1:${server.endpoint.port}`;
    const scan = await run(installed, 'machine', 'power', 'n4', '--scan', address);
    expect(scan.stdout).toContain(server.endpoint.fingerprint);
    expect(server.requests).toEqual([]);
    expect((await run(installed, 'machine', 'power', 'n4', '--scan', 'ftp://x')).exitCode).toBe(64);
  });
});

interface CloudMachine {
  readonly server: EcsServer;
  readonly providerID: string;
  readonly power: (
    ...args: readonly string[]
  ) => Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>;
}

/** A Machine with an instance in our cloud, and the credentials of a person in the environment. */
async function instanceOf(name: string, spec: object = {}): Promise<CloudMachine> {
  const harness = await openAlibabaHarness();
  onTestFinished(() => harness[Symbol.asyncDispose]());
  const infra = { provider: 'alibaba', config: CONFIG };
  const { metadata } = await client.create(MACHINES, {
    apiVersion: API_VERSION,
    kind: 'Machine',
    metadata: { name },
    spec: { infra, ...spec },
  });
  const request = requestOf(
    { config: CONFIG, host: 'systemd' },
    { machineUid: metadata.uid ?? '', machine: name },
  );
  const providerID = await harness.provider.create(request, NEVER);
  await recordInstance(name, providerID);
  const { status, ...its } = node(name);
  await client.create(NODES, its);
  await patchNodeStatus(client, name, status);
  const env = {
    ALIBABA_CLOUD_REGION_ID: 'cn-hangzhou',
    ALIBABA_CLOUD_ECS_ENDPOINT: harness.server.url,
    ALIBABA_CLOUD_ACCESS_KEY_ID: 'LTAI5test',
    ALIBABA_CLOUD_ACCESS_KEY_SECRET: 'test-secret',
  };
  const power = async (...args: readonly string[]): ReturnType<CloudMachine['power']> => {
    const started = start(installed, ['machine', 'power', name, ...args], { env });
    return Object.assign(started, { exitCode: await started.code });
  };
  return { server: harness.server, providerID, power };
}

async function recordInstance(name: string, providerID: string): Promise<void> {
  const body = { status: { infra: { providerID, state: 'Running' } } };
  await client.patch(MACHINES, { name }, { type: 'merge', body }, { subresource: 'status' });
}

function powerActs({ actions }: EcsServer): readonly string[] {
  return actions.filter((action) => /^(Start|Stop|Reboot)/.test(action));
}

describe('machine power of an instance of a cloud', () => {
  it('switches by the provider with a grant, reads each state back, and prints no secret', async () => {
    const { server, power } = await instanceOf('web-1');
    const state = await power('-o', 'json');
    expect(JSON.parse(state.stdout)).toEqual({ machine: 'web-1', way: 'Provider', state: 'On' });
    expect(powerActs(server)).toEqual([]);

    const cycle = await power('--cycle', '-o', 'json');
    expect([cycle.exitCode, cycle.stderr]).toEqual([0, '']);
    expect(JSON.parse(cycle.stdout)).toMatchObject({ way: 'Provider', state: 'On', action: 'PowerCycle' });
    expect(powerActs(server)).toEqual(['StopInstance', 'StartInstance']);
    const { spec } = await client.get<DefenderLedger>(DEFENDER_LEDGERS, { name: LEDGER });
    const entries = Object.entries(spec.grants).filter(([machine]) => machine === 'web-1');
    expect(entries.map(([, { action }]) => action)).toEqual(['PowerCycle']);
    expect(entries.filter(([, entry]) => isInFlight(entry))).toEqual([]);
    expect(state.stdout + cycle.stdout + cycle.stderr).not.toContain('test-secret');
  });

  it('switches nothing that is held, nor without the right, nor the instance of another Machine', async () => {
    const held = await instanceOf('web-2', { hold: { reason: 'new disks', scope: 'All' } });
    const denied = await held.power('--off');
    expect([denied.exitCode, denied.stderr]).toEqual([3, expect.stringContaining('new disks')]);
    expect(powerActs(held.server)).toEqual([]);

    const other = await instanceOf('web-3');
    other.server.ecs.denied.add('StopInstance');
    expect((await other.power('--off')).exitCode).toBe(77);

    for (const [id, instance] of other.server.ecs.instances) {
      const tags = { ...instance.tags, 'kubenode-machine-uid': '00000000-0000-4000-8000-000000000000' };
      other.server.ecs.instances.set(id, { ...instance, tags });
    }
    const refused = await other.power('--off');
    expect([refused.exitCode, refused.stderr]).toEqual([
      65,
      expect.stringContaining('another Machine than web-3'),
    ]);
    expect([...other.server.ecs.instances.values()].map(({ status }) => status)).toEqual(['Running']);
  });

  it('explains an instance without a BMC, and one that was deleted by hand', async () => {
    const { server, power } = await instanceOf('web-4');
    const bmc = await power('--via', 'BMC');
    expect([bmc.exitCode, bmc.stderr]).toEqual([65, expect.stringContaining('--via Provider')]);
    server.ecs.instances.clear();
    const missing = await power('--cycle');
    expect([missing.exitCode, missing.stderr]).toEqual([65, expect.stringContaining('does not exist')]);
    expect(powerActs(server)).toEqual([]);
  });
});
