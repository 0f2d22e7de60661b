/** Two real API servers behind their balancers, by the driver alone: clients do not notice that one after the other is changed, or killed. */

import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  balancerCommand,
  controllersCommand,
  loadPrograms,
} from '../../../../../../../src/cli/hosting/programs.ts';
import type {
  MemberReport,
  MemberRun,
  PlaneMember,
} from '../../../../../../../src/controllers/hosting/drivers/driver.ts';
import { createProcessDriver } from '../../../../../../../src/controllers/hosting/drivers/process/driver.ts';
import { planeOf } from '../../../../../../../src/controllers/hosting/plan/plane-of.ts';
import { pollUntil } from '../../../../../../../src/os/poll.ts';
import { createSystemClock } from '../../../../../../../src/os/system-clock.ts';
import { type LoadReport, startClientLoad } from '../../../../../../support/hosting/client-load.ts';
import { HOSTED, hostedCluster, VERSION } from '../../../../../../support/hosting/objects.ts';
import { shellEnv } from '../../../../../../support/local-fleet.ts';
import { LONG } from '../../../../../../support/sweep-size.ts';
import { tempFolder } from '../../../../../../support/temp.ts';

const clock = createSystemClock();
const { signal } = new AbortController();
const plane = planeOf(hostedCluster({ name: 'two' }), { ...HOSTED, replicas: 2 });
const dir = join(tempFolder('two'), 'hosting');
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
const SERVERS = ['kube-apiserver', 'kube-apiserver-1'] as const;
const MEMBERS = ['etcd', 'kubenode-balancer', 'kubenode-balancer-1', ...SERVERS] as const;
const ANSWER = { timeout: 600_000, interval: 100 };
const LIMIT = 600_000;
/** Long enough for the balancers and the clients to settle. */
const SETTLE_MS = 3000;

describe('two API servers', () => {
  beforeAll(async () => {
    await driver.prepare(plane);
    await until(async () => 'versions' in (await driver.observe(plane, signal)).programs);
    for (const member of MEMBERS) {
      await driver.start(plane, member);
      if (member === 'etcd') await isReady(member);
    }
    for (const member of MEMBERS) await isReady(member);
  }, LIMIT);

  afterAll(async () => {
    await driver.beginDestroy(plane);
    for (const member of MEMBERS.toReversed()) await driver.stop(plane, member);
    await driver.remove(plane);
  }, LIMIT);

  it(
    'HOS-13 are changed one after the other, and clients at 50 requests a second notice nothing',
    async () => {
      const load = await startClientLoad(dir, 'two');
      const run: MemberRun = { version: VERSION, flags: { 'goaway-chance': '0.001' } };
      for (const member of SERVERS) {
        await clock.sleep(SETTLE_MS);
        await driver.change(plane, member, run);
        await driver.start(plane, member);
        await isReady(member);
      }
      await clock.sleep(SETTLE_MS);
      const report = await load.stop();
      print('one after the other', report);
      expect(report.errors.length).toBeLessThanOrEqual(report.requests / 1000);
      expect(report.watchGapMs).toBeLessThan(10_000);
    },
    LIMIT,
  );

  it(
    'HOS-16 serve while one of them is tried with a flag with which it does not start',
    async () => {
      const load = await startClientLoad(dir, 'two');
      const bad: MemberRun = { version: VERSION, flags: { 'feature-gates': 'NoSuchGate=true' } };
      const [first, second] = SERVERS;
      const before = await identity(second);
      await driver.change(plane, first, bad);
      for (let attempt = 1; attempt <= 3; attempt += 1) {
        await driver.start(plane, first);
        await expect.poll(() => state(first), ANSWER).toBe('Stopped');
      }
      await driver.change(plane, first, { version: VERSION, flags: {} });
      await driver.start(plane, first);
      await isReady(first);
      const report = await load.stop();
      print('a bad flag', report);
      expect(await identity(second)).toBe(before);
      expect(report.errors.length).toBeLessThanOrEqual(report.requests / 1000);
    },
    LIMIT,
  );

  it.runIf(LONG)(
    'HOS-13 are found again by clients when one of them, or one of the balancers, is killed',
    async () => {
      const load = await startClientLoad(dir, 'two');
      for (const member of ['kube-apiserver', 'kubenode-balancer'] as const) {
        process.kill(Number((await identity(member))?.split(' ')[0]), 'SIGKILL');
        await clock.sleep(SETTLE_MS);
        await driver.start(plane, member);
        await isReady(member);
      }
      const report = await load.stop();
      print('killed', report);
      expect(report.outageMs).toBeLessThan(5000);
      expect(report.watchGapMs).toBeLessThan(10_000);
    },
    LIMIT,
  );
});

async function reportOf(member: PlaneMember): Promise<MemberReport | undefined> {
  const { members } = await driver.observe(plane, signal);
  return members.find((each) => each.member === member);
}

async function state(member: PlaneMember): Promise<string | undefined> {
  return (await reportOf(member))?.state;
}

async function identity(member: PlaneMember): Promise<string | undefined> {
  return (await reportOf(member))?.identity;
}

async function isReady(member: PlaneMember): Promise<void> {
  await until(async () => (await state(member)) === 'Ready');
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  const deadlineMs = clock.monotonicMs() + ANSWER.timeout;
  const isInTime = await pollUntil(isDone, { clock, everyMs: ANSWER.interval, deadlineMs });
  if (!isInTime) throw new Error('too late');
}

function print(what: string, { errors, ...numbers }: LoadReport): void {
  const text = Object.entries(numbers).map(([name, value]) => `${name} ${Math.round(value)}`);
  const lines = [`${what}: errors ${errors.length}, ${text.join(', ')}`, ...errors.slice(0, 10)];
  process.stdout.write(`${lines.join('\n')}\n`);
}
