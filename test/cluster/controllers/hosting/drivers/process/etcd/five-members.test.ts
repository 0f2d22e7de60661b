/** An etcd of five real members below a real API server: two are lost at once, one of them with its folder, while a client writes and reads. */
import { rm } from 'node:fs/promises';
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
  type PlaneMember,
  type PlaneReport,
} from '../../../../../../../src/controllers/hosting/drivers/driver.ts';
import { createProcessDriver } from '../../../../../../../src/controllers/hosting/drivers/process/driver.ts';
import { planeLayout } from '../../../../../../../src/controllers/hosting/drivers/process/folder.ts';
import { performOnMember } from '../../../../../../../src/controllers/hosting/execute/execute.ts';
import type { HostingInput } from '../../../../../../../src/controllers/hosting/plan/input.ts';
import {
  disruptMember,
  planMembers,
  waitForMembers,
} from '../../../../../../../src/controllers/hosting/plan/members.ts';
import { planeOf } from '../../../../../../../src/controllers/hosting/plan/plane-of.ts';
import type { Client } from '../../../../../../../src/kube/client/client.ts';
import { connect } from '../../../../../../../src/kube/client/connect.ts';
import { CONFIG_MAPS } from '../../../../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../../../../src/kube/objects/json.ts';
import { etcdDataFolder } from '../../../../../../../src/local/layout.ts';
import { pollUntil } from '../../../../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../../../../src/os/system-clock.ts';
import {
  decisionText,
  HOSTED,
  hostedCluster,
  hostingInput,
} from '../../../../../../support/hosting/objects.ts';
import { shellEnv } from '../../../../../../support/local-fleet.ts';
import { LONG } from '../../../../../../support/sweep-size.ts';
import { tempFolder } from '../../../../../../support/temp.ts';

const clock = createSystemClock();
const { signal } = new AbortController();
const plane = planeOf(hostedCluster({ name: 'five' }), {
  ...HOSTED,
  etcd: { ...HOSTED.etcd, replicas: 5 },
});
const dir = join(tempFolder('five'), 'hosting');
const layout = planeLayout(dir, 'five');
const MEMBERS: readonly PlaneMember[] = [...ETCD_MEMBERS, 'kube-apiserver'];
const OBJECT = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'load', namespace: 'default' } };
const LIMIT = 600_000;

let driver: ReturnType<typeof createProcessDriver>;

// Five members and their return take more than a minute: `npm run test:long` runs it.
describe.runIf(LONG)('an etcd of five members below an API server', () => {
  beforeAll(async () => {
    const loading = loadPrograms({ env: shellEnv(), clock, signal }, [], () => undefined);
    driver = createProcessDriver({
      dir,
      machine: 'here',
      clock,
      programs: () => loading,
      balancer: balancerCommand,
      controllers: controllersCommand(false),
      endMachines: () => Promise.resolve(),
      version: '0.0.0',
    });
    await loading;
    await until(async () => 'versions' in (await driver.observe(plane, signal)).programs);
    await driver.prepare(plane);
    await settle();
  }, LIMIT);

  afterAll(async () => {
    for (const member of MEMBERS) await driver.stop(plane, member);
    await driver.remove(plane);
  }, LIMIT);

  it(
    'HOS-33 serves while two are down, guards a third one that loses its folder, and replaces both that have no data',
    async () => {
      const client = await connect({ kubeconfigText: (await driver.access(plane))?.admin ?? '', clock });
      await client.apply(CONFIG_MAPS, { ...OBJECT, data: { n: '0' } }, { fieldManager: 'test' });

      await Promise.all([kill('etcd-3'), kill('etcd-4')]);
      await rm(etcdDataFolder(layout, 3), { recursive: true });
      for (let n = 1; n <= 20; n += 1) await writeAndRead(client, String(n));
      expect((await observe()).members.map(({ state }) => state)).toEqual([
        'Ready',
        'Ready',
        'Ready',
        'Stopped',
        'Stopped',
        'Ready',
      ]);

      // Its process answers, and its files are deleted.
      await rm(etcdDataFolder(layout, 1), { recursive: true });
      const lost = await input();
      const stop = (member: EtcdMember): string =>
        decisionText(disruptMember(lost, { type: 'Stop', member, because: 'a test' }));
      expect(['etcd', 'etcd-1', 'etcd-2'].map((member) => stop(member as EtcdMember))).toEqual(
        Array.from({ length: 3 }, () => 'wait QuorumAtRisk'),
      );
      // Starts need no guard.
      expect(decisionText(planMembers(lost) ?? {})).toBe('Start etcd-4: it ended');

      const acts = await settle(client);
      expect(acts[0]).toBe('Start etcd-4');
      for (const member of ['etcd-1', 'etcd-3']) {
        expect(acts.filter((act) => act.endsWith(` ${member}`))).toEqual([
          ...(member === 'etcd-1' ? ['Stop etcd-1'] : []),
          `RemoveEtcdMember ${member}`,
          `AddEtcdMember ${member}`,
          `Start ${member}`,
          `PromoteEtcdMember ${member}`,
        ]);
      }
      const { etcd, members } = await observe();
      expect(members.map(({ state }) => state)).toEqual(MEMBERS.map(() => 'Ready'));
      expect(etcd?.filter(({ isLearner, isStarted }) => isStarted && !isLearner)).toHaveLength(5);
      await writeAndRead(client, 'last');
      await client.close();
    },
    LIMIT,
  );
});

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadlineMs = clock.monotonicMs() + 240_000;
  expect(await pollUntil(isDone, { clock, everyMs: 200, deadlineMs })).toBe(true);
}

/** The managers and our own controllers are not started. */
async function observe(): Promise<PlaneReport> {
  const report = await driver.observe(plane, signal);
  return { ...report, members: report.members.filter(({ member }) => MEMBERS.includes(member)) };
}

async function reportOf(member: EtcdMember): Promise<MemberReport | undefined> {
  return (await observe()).members.find((each) => each.member === member);
}

async function input(): Promise<HostingInput> {
  return hostingInput({ plane: await observe(), input: { now: clock.now() } });
}

/** Carries out what the planner decides until every member answers and counts for the majority; the client writes after each act. Resolves to the acts. */
async function settle(client?: Client): Promise<readonly string[]> {
  const acts: string[] = [];
  await until(async () => {
    const found = await input();
    const decision = planMembers(found);
    if (!decision?.act) return decision?.wait === undefined && waitForMembers(found) === undefined;
    acts.push(decisionText(decision).replace(/:.*/, ''));
    if ('member' in decision.act) await performOnMember(decision.act, plane, driver);
    if (client) await writeAndRead(client, acts.join());
    return false;
  });
  return acts;
}

async function kill(member: EtcdMember): Promise<void> {
  const pid = Number((await reportOf(member))?.identity?.split(' ')[0]);
  process.kill(pid, 'SIGKILL');
  await until(async () => (await reportOf(member))?.state === 'Stopped');
}

/** A write may be in hand when a member ends, or when another one is chosen as leader: a client sends it again. */
async function writeAndRead(client: Client, n: string): Promise<void> {
  const object = { ...OBJECT, data: { n } };
  const options = { fieldManager: 'test', force: true };
  await until(
    async () => (await client.apply(CONFIG_MAPS, object, options).catch(() => undefined)) !== undefined,
  );
  expect(textAt(await client.get(CONFIG_MAPS, OBJECT.metadata), 'data', 'n')).toBe(n);
}
