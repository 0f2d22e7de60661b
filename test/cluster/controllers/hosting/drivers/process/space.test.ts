/** A real etcd with the smallest quota, filled until it refuses writes, and made smaller. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import {
  balancerCommand,
  controllersCommand,
  loadPrograms,
} from '../../../../../../src/cli/hosting/programs.ts';
import type { EtcdSpace } from '../../../../../../src/controllers/hosting/drivers/driver.ts';
import { createProcessDriver } from '../../../../../../src/controllers/hosting/drivers/process/driver.ts';
import { planeLayout } from '../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import { readAuthority } from '../../../../../../src/local/pki/authority.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import {
  type ProbeEndpoint,
  type ProbeResponse,
  sendProbe,
} from '../../../../../../src/local/processes/probe.ts';
import { readState } from '../../../../../../src/local/state.ts';
import { messageOf } from '../../../../../../src/os/errors.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { planeSpec } from '../../../../../support/hosting/objects.ts';
import { shellEnv } from '../../../../../support/local-fleet.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const clock = createSystemClock();
const { signal } = new AbortController();
const base = planeSpec('full');
const plane = { ...base, settings: { ...base.settings, quotaMiB: 64 } };
const dir = join(tempFolder('space'), 'hosting');
const layout = planeLayout(dir, 'full');
const loading = loadPrograms({ env: shellEnv(), clock, signal }, [], () => undefined);
const driver = createProcessDriver({
  dir,
  machine: 'here',
  clock,
  programs: () => loading,
  balancer: balancerCommand,
  controllers: controllersCommand(false),
  endMachines: () => Promise.resolve(),
  version: '0.0.0',
});
const ANSWER = { interval: 100 };
const VALUE = Buffer.alloc(1_000_000, 'x').toString('base64');

async function endpoint(): Promise<ProbeEndpoint> {
  const { pkiFolder } = layout.etcd;
  const authority = await readAuthority(pkiFolder);
  const client = parsePair(readFileSync(join(pkiFolder, 'client.pem'), 'utf8'));
  const state = await readState(layout.stateFile);
  if (!authority || !client || !state) throw new Error('the control plane is not prepared');
  return { url: `https://127.0.0.1:${state.etcdPort}`, caPem: authority.certPem, client };
}

async function call(etcd: ProbeEndpoint, path: string, body: object): Promise<ProbeResponse> {
  const request = { method: 'POST', body: JSON.stringify(body), timeoutMs: 60_000 } as const;
  return await sendProbe({ ...etcd, url: `${etcd.url}${path}` }, request);
}

function key(index: number): string {
  return Buffer.from(`key-${index}`).toString('base64');
}

async function space(): Promise<EtcdSpace | undefined> {
  return (await driver.observe(plane, signal)).space;
}

/** The size in steps of 16 MB, and what the last attempt had. */
async function spaceText(): Promise<string> {
  const { isFull, dbBytes, attempt } = (await space()) ?? { isFull: false, dbBytes: Number.NaN };
  const size = isFull ? 'full' : `${16 * Math.floor(dbBytes / 16e6)} MB`;
  return `${size}: ${attempt?.problem ?? 'no problem'}`;
}

async function fill(etcd: ProbeEndpoint, from: number): Promise<number> {
  for (let index = from; index < 200; index += 1) {
    const answer = await call(etcd, '/v3/kv/put', { key: key(index), value: VALUE });
    if (answer.status !== 200) return index;
  }
  throw new Error('etcd was never full');
}

/** The file of etcd grows in pieces of 16 MB, so defragmentation alone makes some room at first. */
async function fillWholly(
  etcd: ProbeEndpoint,
): Promise<{ readonly count: number; readonly problem: string }> {
  let count = 0;
  for (let round = 0; round < 10; round += 1) {
    count = await fill(etcd, count);
    expect(await space()).toMatchObject({ isFull: true });
    // Clients have to reach it to delete something, and hosting to make it smaller.
    const { members } = await driver.observe(plane, signal);
    expect(members.find(({ member }) => member === 'etcd')?.state).toBe('Ready');
    const failure = await driver.shrink?.(plane).catch(messageOf);
    if (failure !== undefined) return { count, problem: failure };
  }
  throw new Error('there was always more room');
}

it('HOS-33 lets an etcd that is full take writes again when there is room, and not before', async () => {
  onTestFinished(() => driver.stop(plane, 'etcd'));
  await loading;
  await expect.poll(async () => 'versions' in (await driver.observe(plane, signal)).programs).toBe(true);
  await driver.prepare(plane);
  expect(await space()).toBeUndefined();
  await driver.start(plane, 'etcd');
  await expect.poll(() => space(), ANSWER).toMatchObject({ quotaBytes: 64 * 1024 ** 2, isFull: false });
  const etcd = await endpoint();
  const { count, problem } = await fillWholly(etcd);
  expect(problem).toContain('the database of etcd was not made smaller');
  expect(await spaceText()).toMatch(/^full: .*MB are in use/);

  for (let index = 5; index < count; index += 1) {
    expect((await call(etcd, '/v3/kv/deleterange', { key: key(index) })).status).toBe(200);
  }
  await driver.shrink?.(plane);
  expect(await spaceText()).toBe('0 MB: no problem');
  expect((await call(etcd, '/v3/kv/put', { key: key(99), value: VALUE })).status).toBe(200);
});
