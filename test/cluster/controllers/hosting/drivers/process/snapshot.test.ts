/** Snapshots of a real etcd that serves: complete, verified, and one that a member starts from. */
import { cpSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  balancerCommand,
  controllersCommand,
  loadPrograms,
} from '../../../../../../src/cli/hosting/programs.ts';
import { readKeyState } from '../../../../../../src/controllers/hosting/drivers/etcd/json-gateway.ts';
import {
  readSnapshot,
  snapshotData,
} from '../../../../../../src/controllers/hosting/drivers/etcd/snapshot.ts';
import { createProcessDriver } from '../../../../../../src/controllers/hosting/drivers/process/driver.ts';
import { openCopy } from '../../../../../../src/controllers/hosting/drivers/process/etcd/open-copy.ts';
import { planeLayout } from '../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import {
  type SnapshotSource,
  takeSnapshot,
  verifySnapshot,
} from '../../../../../../src/controllers/hosting/drivers/process/snapshot.ts';
import { readAuthority } from '../../../../../../src/local/pki/authority.ts';
import { parsePair } from '../../../../../../src/local/pki/inspect.ts';
import { type ProbeEndpoint, sendProbe } from '../../../../../../src/local/processes/probe.ts';
import { readState } from '../../../../../../src/local/state.ts';
import { pollUntil } from '../../../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../../../src/os/system-clock.ts';
import { planeSpec } from '../../../../../support/hosting/objects.ts';
import { shellEnv } from '../../../../../support/local-fleet.ts';
import { tempFolder } from '../../../../../support/temp.ts';

const clock = createSystemClock();
const { signal } = new AbortController();
const plane = planeSpec('snap');
const dir = join(tempFolder('snapshot'), 'hosting');
const layout = planeLayout(dir, 'snap');
const folder = join(layout.root, 'snapshots', 'test');
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

let source: SnapshotSource;
let tools: Parameters<typeof takeSnapshot>[2];

beforeAll(async () => {
  const [programs] = await loading;
  if (!programs) throw new Error('there are no programs');
  const { path } = programs;
  tools = { path, clock, etcdVersion: 'v3.6.8' };
  await until(async () => !('problem' in (await driver.observe(plane, signal)).programs));
  await driver.prepare(plane);
  await driver.start(plane, 'etcd');
  const { pkiFolder, dataFolder } = layout.etcd;
  const authority = await readAuthority(pkiFolder);
  const client = parsePair(readFileSync(join(pkiFolder, 'client.pem'), 'utf8'));
  const state = await readState(layout.stateFile);
  if (!authority || !client || !state) throw new Error('the control plane is not prepared');
  const endpoint = { url: `https://127.0.0.1:${state.etcdPort}`, caPem: authority.certPem, client };
  source = { endpoint, dataFolder, pkiFolder };
  await until(async () => (await readKeyState(endpoint).catch(() => undefined)) !== undefined);
  for (let index = 0; index < 20; index += 1) await put(`key-${index}`, 'x'.repeat(100_000));
});

afterAll(async () => {
  await driver.stop(plane, 'etcd');
});

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadlineMs = clock.monotonicMs() + 240_000;
  expect(await pollUntil(isDone, { clock, everyMs: 100, deadlineMs })).toBe(true);
}

async function put(key: string, value: string, endpoint: ProbeEndpoint = source.endpoint): Promise<void> {
  const [encodedKey, encodedValue] = [key, value].map((text) => Buffer.from(text).toString('base64'));
  const body = JSON.stringify({ key: encodedKey, value: encodedValue });
  const answer = await sendProbe({ ...endpoint, url: `${endpoint.url}/v3/kv/put` }, { method: 'POST', body });
  expect(answer.status).toBe(200);
}

describe('snapshots of etcd', () => {
  it('HOS-31 takes a snapshot while etcd serves, and opens it before it counts', async () => {
    const { keys } = await readKeyState(source.endpoint);
    const taken = await takeSnapshot(source, folder, tools);
    expect(taken).toMatchObject({ keys, etcdVersion: 'v3.6.8' });
    expect(keys).toBeGreaterThanOrEqual(20);
    expect(await readSnapshot(folder)).toEqual(taken);
    expect(await verifySnapshot(folder, { ...source, ...tools })).toEqual(taken);
    expect(readdirSync(join(folder, '..'))).toEqual(['test']);
    const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    expect(files.filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0)).toEqual([]);
  });

  it('HOS-31 keeps what was written before a snapshot, and a member starts from it and serves', async () => {
    const taken = await takeSnapshot(source, folder, tools);
    await put('later', 'not in the snapshot');
    const restored = join(layout.root, 'restored');
    cpSync(snapshotData(folder), restored, { recursive: true });
    const found = await openCopy(restored, { ...source, ...tools }, async (endpoint) => {
      const before = await readKeyState(endpoint);
      await put('after', 'the restore', endpoint);
      return { before, after: await readKeyState(endpoint) };
    });
    expect(found.before.keys).toBe(taken.keys);
    expect(found.after.keys).toBe(taken.keys + 1);
  });

  it('HOS-31 keeps the snapshot that exists when another one cannot be taken', async () => {
    const taken = await takeSnapshot(source, folder, tools);
    const unreachable = { ...source, endpoint: { ...source.endpoint, url: 'https://127.0.0.1:1' } };
    await expect(takeSnapshot(unreachable, folder, tools)).rejects.toThrow('no valid snapshot of etcd');
    expect(await readSnapshot(folder)).toEqual(taken);
    expect(existsSync(`${folder}.tmp`)).toBe(false);
  });

  it('HOS-31 refuses a corrupt snapshot, and one with fewer keys than it had', async () => {
    const taken = await takeSnapshot(source, folder, tools);
    const parts = { ...source, ...tools };
    const recordFile = join(folder, 'snapshot.json');
    writeFileSync(recordFile, JSON.stringify({ ...taken, keys: taken.keys + 1 }));
    await expect(verifySnapshot(folder, parts)).rejects.toThrow(`expected ${taken.keys + 1} keys`);
    writeFileSync(recordFile, JSON.stringify(taken));
    writeFileSync(join(snapshotData(folder), 'member', 'snap', 'db'), 'not a database');
    await expect(verifySnapshot(folder, parts)).rejects.toThrow('etcd does not start from the copy');
    writeFileSync(recordFile, '{}');
    await expect(verifySnapshot(folder, parts)).rejects.toThrow('snapshot.json is missing or not valid');
  });
});
