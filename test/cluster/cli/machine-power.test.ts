/** `kubenode machine power` against a real API server and our own BMC. */
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { DEFENDER_LEDGERS, MACHINES } from '../../../src/api/generated/resources.ts';
import type { DefenderLedger } from '../../../src/api/generated/types.ts';
import { isInFlight } from '../../../src/api/grants.ts';
import { ANNOTATION_SECRET_USE, LEDGER, NAMESPACE } from '../../../src/api/names.ts';
import { API_VERSION } from '../../../src/api/version.ts';
import type { Client } from '../../../src/kube/client/client.ts';
import { NODES, SECRETS } from '../../../src/kube/objects/core-kinds.ts';
import { node } from '../../support/builders.ts';
import { BMC_PASSWORD, BMC_UUID, startBmc, type TestBmc } from '../../support/redfish/bmc-server.ts';
import { type InstalledServer, startInstalledServer } from '../api/installed-server.ts';
import { applyFleetDefault, patchNodeStatus } from '../defender/objects.ts';
import { run } from './rollout-fixture.ts';

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
  it('prints the state, switches with a grant that is settled, and prints no secret', {
    timeout: 120_000,
  }, async () => {
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
    const entries = Object.values(spec.grants);
    expect(entries.map(({ action }) => action)).toEqual(['PowerCycle']);
    expect(entries.filter(isInFlight)).toEqual([]);
    expect(state.stdout + state.stderr + cycle.stdout + cycle.stderr).not.toContain(BMC_PASSWORD);
  });

  it('switches nothing that is held, and names the reason', { timeout: 120_000 }, async () => {
    const server = await bmcOf('n2', { hold: { reason: 'new disks', scope: 'All' } });
    const off = await run(installed, 'machine', 'power', 'n2', '--off');
    expect(off.exitCode).toBe(3);
    expect(off.stderr).toContain('new disks');
    expect(server.resets).toEqual([]);
    expect((await run(installed, 'machine', 'power', 'n2', '--on')).exitCode).toBe(0);
  });

  it('refuses two acts at once, and a machine without BMC', { timeout: 120_000 }, async () => {
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

  it('prints the fingerprint of a BMC, and sends it nothing', { timeout: 120_000 }, async () => {
    const server = await bmcOf('n4');
    const address = `https://127.0.0.1:${server.endpoint.port}`;
    const scan = await run(installed, 'machine', 'power', 'n4', '--scan', address);
    expect(scan.stdout).toContain(server.endpoint.fingerprint);
    expect(server.requests).toEqual([]);
    expect((await run(installed, 'machine', 'power', 'n4', '--scan', 'ftp://x')).exitCode).toBe(64);
  });
});
