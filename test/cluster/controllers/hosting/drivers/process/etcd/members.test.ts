/** An etcd of three real members: it is created, upgraded in its flags, and repaired, one member at a time and under a light load. */
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  balancerCommand,
  controllersCommand,
  loadPrograms,
} from '../../../../../../../src/cli/hosting/programs.ts';
import {
  ETCD_MEMBERS,
  type EtcdMember,
  type MemberReport,
  type PlaneReport,
  type PlaneSpec,
} from '../../../../../../../src/controllers/hosting/drivers/driver.ts';
import { createProcessDriver } from '../../../../../../../src/controllers/hosting/drivers/process/driver.ts';
import { etcdEndpoints } from '../../../../../../../src/controllers/hosting/drivers/process/etcd/endpoint.ts';
import {
  planeLayout,
  readPlane,
} from '../../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import { ETCD_QUOTA } from '../../../../../../../src/controllers/hosting/drivers/runs.ts';
import { performOnMember } from '../../../../../../../src/controllers/hosting/execute/execute.ts';
import { planMembers, waitForMembers } from '../../../../../../../src/controllers/hosting/plan/members.ts';
import { planeOf } from '../../../../../../../src/controllers/hosting/plan/plane-of.ts';
import { etcdDataFolder } from '../../../../../../../src/local/layout.ts';
import { type ProbeEndpoint, sendProbe } from '../../../../../../../src/local/processes/probe.ts';
import { readState } from '../../../../../../../src/local/state.ts';
import { pollUntil } from '../../../../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../../../../src/os/system-clock.ts';
import {
  decisionText,
  HOSTED,
  hostedCluster,
  hostingInput,
  undisturbed,
} from '../../../../../../support/hosting/objects.ts';
import { shellEnv } from '../../../../../../support/local-fleet.ts';
import { LONG } from '../../../../../../support/sweep-size.ts';
import { tempFolder } from '../../../../../../support/temp.ts';

/** What an API server has written: it reads JSON, too. */
const NAMESPACE = JSON.stringify({
  apiVersion: 'v1',
  kind: 'Namespace',
  metadata: { name: 'kube-system', uid: 'uid-kube-system', creationTimestamp: '2030-01-01T00:00:00Z' },
  spec: { finalizers: ['kubernetes'] },
  status: { phase: 'Active' },
});
const MEMBERS = ETCD_MEMBERS.slice(0, 3);
const clock = createSystemClock();
const { signal } = new AbortController();
const hosted = { ...HOSTED, etcd: { ...HOSTED.etcd, replicas: 3 } } as const;
const plane = planeOf(hostedCluster({ name: 'three' }), hosted);
const dir = join(tempFolder('three'), 'hosting');
const layout = planeLayout(dir, 'three');
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
  availableBytes: () => Promise.resolve(8e9),
});
let endpoints: readonly ProbeEndpoint[] = [];
let created: readonly string[] = [];

beforeAll(async () => {
  await loading;
  await until(async () => !('problem' in (await driver.observe(plane, signal)).programs));
  await driver.prepare(plane);
  endpoints = await etcdEndpoints(await readPlane(dir, plane));
  created = await settle();
});

afterAll(async () => {
  for (const member of MEMBERS) await driver.stop(plane, member);
  await driver.remove(plane);
});

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadlineMs = clock.monotonicMs() + 240_000;
  expect(await pollUntil(isDone, { clock, everyMs: 200, deadlineMs })).toBe(true);
}

/** Only etcd is of interest here: the other members count as stopped, and are not started. */
async function observe(of: PlaneSpec = plane): Promise<PlaneReport> {
  const report = await driver.observe(of, signal);
  return { ...report, members: report.members.filter(({ member }) => member.startsWith('etcd')) };
}

async function reportOf(member: EtcdMember): Promise<MemberReport | undefined> {
  return (await observe()).members.find((each) => each.member === member);
}

/** Removes a control plane, and prepares another one in its place. */
async function recreate(before: PlaneSpec, next: PlaneSpec): Promise<void> {
  for (const member of MEMBERS) await driver.stop(before, member);
  await driver.remove(before);
  await driver.prepare(next);
  endpoints = await etcdEndpoints(await readPlane(dir, next));
}

/** Carries out what the planner decides until every member answers and counts for the majority. Resolves to the acts. */
async function settle(of: PlaneSpec = plane): Promise<readonly string[]> {
  const acts: string[] = [];
  await until(async () => {
    const input = hostingInput({ plane: await observe(of), input: { now: clock.now() } });
    const decision = planMembers(input);
    if (!decision?.act) return decision?.wait === undefined && waitForMembers(input) === undefined;
    acts.push(decisionText(decision));
    if ('member' in decision.act) await performOnMember(decision.act, of, driver);
    return false;
  });
  return acts.map((text) => text.replace(/:.*/, ''));
}

/** Writes by any member that answers, as a client with all endpoints does. */
async function put(key: string, value = 'x'): Promise<void> {
  const body = JSON.stringify({
    key: Buffer.from(key).toString('base64'),
    value: Buffer.from(value).toString('base64'),
  });
  await until(async () => {
    for (const endpoint of endpoints) {
      const url = `${endpoint.url}/v3/kv/put`;
      const answer = await sendProbe({ ...endpoint, url }, { method: 'POST', body }).catch(() => undefined);
      if (answer?.status === 200) return true;
    }
    return false;
  });
}

async function keysAt(member: EtcdMember): Promise<number> {
  const endpoint = endpoints[ETCD_MEMBERS.indexOf(member)];
  if (!endpoint) throw new Error(`${member} has no endpoint`);
  // Only what this member itself has counts.
  const every = { key: 'AA==', range_end: 'AA==', count_only: true, serializable: true };
  const url = `${endpoint.url}/v3/kv/range`;
  const answer = await sendProbe({ ...endpoint, url }, { method: 'POST', body: JSON.stringify(every) });
  const found: { readonly count?: string } = JSON.parse(answer.body) as { readonly count?: string };
  return Number(found.count ?? 0);
}

/** Writes while the work is done. Resolves to how many writes were accepted. */
async function underLoad(work: () => Promise<unknown>): Promise<number> {
  const done = new AbortController();
  let written = 0;
  const load = async (): Promise<void> => {
    while (!done.signal.aborted) {
      await put(`load-${written}`);
      written += 1;
    }
  };
  const writing = load();
  try {
    await work();
  } finally {
    done.abort();
    await writing;
  }
  return written;
}

async function kill(member: EtcdMember): Promise<void> {
  const pid = Number((await reportOf(member))?.identity?.split(' ')[0]);
  process.kill(pid, 'SIGKILL');
  await until(async () => (await reportOf(member))?.state === 'Stopped');
}

describe('an etcd of three members', () => {
  it('HOS-30 is created one member after the other, each a learner before it counts', async () => {
    expect(created).toEqual([
      'Start etcd',
      ...['etcd-1', 'etcd-2'].flatMap((member) => [
        `AddEtcdMember ${member}`,
        `Start ${member}`,
        `PromoteEtcdMember ${member}`,
      ]),
    ]);
    const { etcd, data } = await observe();
    expect(data).toBe('Own');
    expect(etcd?.toSorted((a, b) => (`${a.member}` < `${b.member}` ? -1 : 1))).toEqual(
      MEMBERS.map((member) => ({ member, isLearner: false, isStarted: true })),
    );
    await put('first');
    const expected = await keysAt('etcd');
    expect(expected).toBeGreaterThan(0);
    await Promise.all(MEMBERS.map((member) => until(async () => (await keysAt(member)) === expected)));
  });

  it('HOS-33 replaces a member whose folder is missing, under load and without a person', async () => {
    const folder = etcdDataFolder(layout, 1);
    let acts: readonly string[] = [];
    const written = await underLoad(async () => {
      await kill('etcd-1');
      await rm(folder, { recursive: true });
      acts = await settle();
    });
    expect(acts).toEqual([
      'RemoveEtcdMember etcd-1',
      'AddEtcdMember etcd-1',
      'Start etcd-1',
      'PromoteEtcdMember etcd-1',
    ]);
    expect(written).toBeGreaterThan(0);
    const expected = await keysAt('etcd');
    await until(async () => (await keysAt('etcd-1')) === expected);
  });

  it.runIf(LONG)(
    'HOS-33 replaces the first member also while its process still runs on a folder that is missing',
    async () => {
      await rm(etcdDataFolder(layout, 0), { recursive: true });
      const acts = await settle();
      expect(acts).toEqual([
        'Stop etcd',
        'RemoveEtcdMember etcd',
        'AddEtcdMember etcd',
        'Start etcd',
        'PromoteEtcdMember etcd',
      ]);
      expect((await observe()).data).toBe('Own');
    },
  );

  it('HOS-33 refuses the folder of another member, and touches no member', async () => {
    await kill('etcd-2');
    const folder = etcdDataFolder(layout, 2);
    await rm(folder, { recursive: true });
    await cp(etcdDataFolder(layout, 1), folder, { recursive: true });
    expect((await observe()).data).toBe('Other');
    await expect(driver.start(plane, 'etcd-2')).rejects.toMatchObject({ code: 'DataNotOurs' });
    await expect(driver.removeEtcdMember(plane, 'etcd-2')).rejects.toMatchObject({ code: 'EtcdRefused' });
    await rm(folder, { recursive: true });
    await settle();
    expect((await reportOf('etcd-2'))?.state).toBe('Ready');
  });

  it('HOS-30 changes one member at a time, and each runs with its own flags meanwhile', async () => {
    const run = { version: 'v3.6.8', flags: { [ETCD_QUOTA]: '104857600' } };
    await driver.change(plane, 'etcd-1', run);
    const states = (await observe()).members.map(({ state }) => state);
    expect(states).toEqual(['Ready', 'Stopped', 'Ready']);
    expect(await settle()).toEqual(['Start etcd-1']);
    const flags = (await observe()).members.map((each) => each.run?.flags[ETCD_QUOTA]);
    expect(flags).toEqual(['2147483648', '104857600', '2147483648']);
    expect((await observe()).members.map(({ isOutdated }) => isOutdated)).toEqual([false, false, false]);
  });

  it.runIf(LONG)('HOS-31 takes a snapshot of several members that a single one starts from', async () => {
    await driver.snapshot(plane);
    expect((await driver.observe(plane, signal)).snapshotAt).toBeInstanceOf(Date);
  });

  it('HOS-33 makes the database of every member smaller while etcd takes writes, and none while one is down', async () => {
    const written = await underLoad(async () => await driver.shrink?.(plane));
    expect(written).toBeGreaterThan(0);
    const { space } = await driver.observe(plane, signal);
    expect(space).toMatchObject({ isFull: false, attempt: { at: expect.any(Date) as Date } });
    expect(space?.attempt?.problem).toBeUndefined();
    await kill('etcd-1');
    await expect(driver.shrink?.(plane)).rejects.toMatchObject({ code: 'EtcdFull' });
    expect((await driver.observe(plane, signal)).space?.dbBytes).toBeGreaterThan(0);
    expect(await settle()).toEqual(['Start etcd-1']);
  });

  it('HOS-33 starts no member without data that is not new, and gives it an empty folder when it joins', async () => {
    await kill('etcd-2');
    const folder = etcdDataFolder(layout, 2);
    await rm(join(folder, 'member', 'wal'), { recursive: true });
    await expect(driver.start(plane, 'etcd-2')).rejects.toThrow('it has no data, and is not a new member');
    expect((await settle())[0]).toBe('RemoveEtcdMember etcd-2');
    expect(existsSync(join(folder, 'member.old', 'snap', 'db'))).toBe(true);
  });

  it('HOS-06 names the port for peers that another program uses', async () => {
    await kill('etcd-2');
    const peerPort = (await readState(layout.stateFile))?.etcdMembers?.[2]?.peerPort;
    // The other members call it again and again.
    const server = createServer((socket) => void socket.destroy()).listen(peerPort, '127.0.0.1');
    await once(server, 'listening');
    await expect(driver.start(plane, 'etcd-2')).rejects.toMatchObject({
      code: 'PortInUse',
      where: `127.0.0.1:${peerPort}`,
    });
    server.close();
    await once(server, 'close');
    expect(await settle()).toEqual(['Start etcd-2']);
  });

  it.runIf(LONG)(
    'HOS-32 serves the backup of a voter in a drill, and restores it into the first of three new members, which the others join, and into a single one',
    async () => {
      await put('/three/namespaces/kube-system', NAMESPACE);
      await kill('etcd');
      await driver.backups?.take(plane, { keep: 1 }, undisturbed());
      await driver.backups?.drill(plane, undisturbed());
      const { backup } = await driver.observe(plane, signal);
      expect(backup).toHaveProperty('drill', { at: expect.any(Date) as Date });
      expect(await settle()).toEqual(['Start etcd']);
      const expected = await keysAt('etcd');
      const three = { ...plane, uid: 'uid-next' };
      await recreate(plane, three);
      await driver.backups?.restore(three, 'latest');
      await driver.backups?.restore(three, 'latest');
      const joined = ['etcd-1', 'etcd-2'].flatMap((member) => [
        `AddEtcdMember ${member}`,
        `Start ${member}`,
        `PromoteEtcdMember ${member}`,
      ]);
      expect(await settle(three)).toEqual(['Start etcd', ...joined]);
      await Promise.all(MEMBERS.map((member) => until(async () => (await keysAt(member)) === expected)));
      expect((await driver.observe(three, signal)).backup?.restoredFrom).toMatch(/^000001-/);
      const single = { ...planeOf(hostedCluster({ name: 'three' }), HOSTED), uid: 'uid-single' };
      await recreate(three, single);
      await driver.backups?.restore(single, 'latest');
      expect(await settle(single)).toEqual(['Start etcd']);
      expect(await keysAt('etcd')).toBe(expected);
      // The other tests need three members.
      await recreate(single, plane);
      expect(await settle()).toEqual(['Start etcd', ...joined]);
    },
  );
});
