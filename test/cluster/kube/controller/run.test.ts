/** Whole controller processes on a real API server, behind the fault proxy: they converge, take turns, and end well. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { LEASES, readLeaseRecord } from '../../../../src/kube/leader/record.ts';
import { CONFIG_MAPS } from '../../../../src/kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { type ApiServer, startApiServer } from '../../../support/control-plane.ts';
import { answer, drop, reset } from '../../../support/fault-proxy/faults.ts';
import { closeWatch } from '../../../support/fault-proxy/watch-faults.ts';
import { type FaultProxy, faultProxy } from '../../../support/fault-proxy.ts';

const LEASE = { namespace: 'default', name: 'copiers' };

let server: ApiServer;
let proxy: FaultProxy;
beforeAll(async () => {
  server = await startApiServer();
  proxy = await faultProxy(server);
});
afterAll(async () => {
  await proxy?.close();
  await server?.stop();
});
beforeEach(async () => {
  await server.wipe();
});
afterEach(() => {
  proxy.reset();
});

interface Program {
  readonly process: ChildProcess;
  readonly url: string;
  readonly lines: string[];
  readonly log: Record<string, unknown>[];
}

async function start(
  identity: string,
  { kubeconfig = server.kubeconfig, takesMs = 0 } = {},
): Promise<Program> {
  const program = fileURLToPath(new URL('./program.ts', import.meta.url));
  const child = spawn(process.execPath, [program, identity, kubeconfig, String(takesMs)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  const log: Record<string, unknown>[] = [];
  createInterface({ input: child.stderr }).on('line', (line) => log.push(asLine(line)));
  const lines: string[] = [];
  const output = createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const [url] = (await once(output, 'line')) as [string];
  return { process: child, url, lines, log };
}

function asLine(line: string): Record<string, unknown> {
  return line.startsWith('{') ? (JSON.parse(line) as Record<string, unknown>) : { raw: line };
}

async function setDesired(name: string, desired: string): Promise<void> {
  await server.client.apply(
    CONFIG_MAPS,
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default' }, data: { desired } },
    { fieldManager: 'test', force: true },
  );
}

async function maps(): Promise<readonly KubeObject[]> {
  const { items } = await server.client.list(CONFIG_MAPS, { namespace: 'default' });
  return items.filter(({ metadata }) => metadata.name.startsWith('map-'));
}

async function copied(): Promise<(string | undefined)[]> {
  return (await maps()).map(({ metadata }) => metadata.annotations?.['test/copied']);
}

async function annotations(): Promise<KubeObject['metadata']['annotations']> {
  return (await server.client.get(CONFIG_MAPS, { name: 'map-a', namespace: 'default' })).metadata.annotations;
}

async function holder(): Promise<string | undefined> {
  return readLeaseRecord(await server.client.get(LEASES, LEASE)).holder;
}

async function ready(url: string): Promise<number> {
  return (await fetch(`${url}/readyz`)).status;
}

it('brings every object to its desired state, whatever the network does, and then sends nothing', async () => {
  const count = 30;
  for (let n = 0; n < count; n += 1) await setDesired(`map-${n}`, 'one');
  proxy.on({ verb: 'list', resource: 'configmaps', nth: 1, fault: answer(503, {}) });
  proxy.on({ verb: 'apply', resource: 'configmaps', nth: 3, fault: drop('before') });
  proxy.on({ verb: 'apply', resource: 'configmaps', nth: 5, fault: drop('after') });
  proxy.on({ verb: 'apply', resource: 'configmaps', nth: 7, fault: answer(429, { retryAfterSeconds: 1 }) });
  proxy.on({ verb: 'apply', resource: 'configmaps', nth: 9, fault: answer(409, {}) });
  proxy.on({ verb: 'apply', resource: 'configmaps', nth: 11, fault: reset('before') });
  proxy.on({ verb: 'watch', resource: 'configmaps', nth: 1, fault: closeWatch(5) });
  const program = await start('one', { kubeconfig: proxy.kubeconfig });
  await expect.poll(copied).toEqual(Array.from({ length: count }, () => 'one'));
  for (let n = 0; n < count; n += 1) await setDesired(`map-${n}`, 'two');
  await expect.poll(copied).toEqual(Array.from({ length: count }, () => 'two'));
  expect(await ready(program.url)).toBe(200);

  const text = await (await fetch(`${program.url}/metrics`)).text();
  expect(text).toContain('kubenode_api_requests_total{verb="apply",code="429"} 1');
  expect(text).toMatch(/kubenode_reconcile_seconds_count\{controller="copier",outcome="failed"\} [4-9]/);
  expect(text).toContain('kubenode_queue_depth{queue="copier"} 0');
  expect(text).toContain('kubenode_lease_held{lease="default/copiers"} 1');

  const writes = (): number => proxy.log.filter(({ verb }) => verb === 'apply').length;
  const renewals = (): number =>
    proxy.log.filter(({ verb, resource }) => resource === 'leases' && verb === 'patch').length;
  const before = writes();
  // The process is at work meanwhile: it renews its Lease.
  const renewed = renewals() + 6;
  await expect.poll(renewals).toBeGreaterThanOrEqual(renewed);
  expect(writes()).toBe(before);
});

it('stops on SIGTERM: the reconcile under way ends, the lease is released, the next process starts', async () => {
  await setDesired('map-a', 'one');
  const first = await start('first', { takesMs: 2000 });
  await expect.poll(() => first.lines).toContain('reconcile default/map-a');
  const second = await start('second');
  await expect.poll(() => ready(second.url)).toBe(200);
  await expect.poll(copied).toEqual(['one']);
  await setDesired('map-a', 'two');
  await expect.poll(() => first.lines.length).toBe(3);
  const ended = once(first.process, 'exit') as Promise<[number | null]>;
  first.process.kill('SIGTERM');
  expect((await ended)[0]).toBe(0);
  expect(await annotations()).toMatchObject({ 'test/copied': 'two', 'test/by': 'first', 'test/epoch': '1' });
  expect(first.log.map(({ message }) => message)).toContain('lease released');
  await expect.poll(holder).toBe('second');
  await setDesired('map-a', 'three');
  await expect.poll(copied).toEqual(['three']);
  expect(await annotations()).toMatchObject({ 'test/by': 'second', 'test/epoch': '2' });
});

it('exits with an error when it loses the lease, so that it is started again', async () => {
  await setDesired('map-a', 'one');
  const first = await start('first');
  await expect.poll(copied).toEqual(['one']);
  const lease = await server.client.get(LEASES, LEASE);
  const spec = { holderIdentity: 'somebody', leaseDurationSeconds: 15, leaseTransitions: 40 };
  const ended = once(first.process, 'exit') as Promise<[number | null]>;
  await server.client.apply(
    LEASES,
    { apiVersion: lease.apiVersion, kind: lease.kind, metadata: LEASE, spec },
    { fieldManager: 'test', force: true },
  );
  expect((await ended)[0]).toBe(3);
  expect(first.log.at(-1)).toMatchObject({ error: { code: 'LeaseLost', because: 'taken' } });
});

it('is not ready, and tells why, while it may not read', async () => {
  proxy.on({ verb: 'list', resource: 'configmaps', fault: answer(403, {}) });
  const program = await start('one', { kubeconfig: proxy.kubeconfig });
  await expect.poll(async () => (await fetch(`${program.url}/readyz`)).text()).toContain('403');
  expect(await ready(program.url)).toBe(503);
  proxy.reset();
  await expect.poll(() => ready(program.url)).toBe(200);
});
