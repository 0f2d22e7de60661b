/** Steps of the controller of jobs on a real API server: what it evicts, awaits and reports there, with the rights of its account. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JobStep, RemedyOperationJob } from '../../../../src/api/generated/types.ts';
import { ANNOTATION_NOTIFIED } from '../../../../src/api/names.ts';
import type { Step } from '../../../../src/api/steps/steps.ts';
import { openNotifications } from '../../../../src/cli/commands/controllers/notifications.ts';
import { BUDGETS } from '../../../../src/kube/drain/budgets.ts';
import { EVENTS } from '../../../../src/kube/events/object.ts';
import { PODS } from '../../../../src/kube/objects/core-kinds.ts';
import { textAt } from '../../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../../src/kube/objects/object.ts';
import { createSystemClock } from '../../../../src/os/system-clock.ts';
import { jobStep } from '../../../controllers/remedyjob/jobs.ts';
import { condition } from '../../../support/builders.ts';
import { eventually } from '../../../support/eventually.ts';
import { startNoticeReceiver } from '../../../support/notice-receiver.ts';
import { tempFolder } from '../../../support/temp.ts';
import { patchNodeStatus } from '../../defender/objects.ts';
import { createBudget, deleteBudget, ensureAccount, WEB } from '../budgeted-pod.ts';
import { type JobCluster, startJobCluster } from '../job-cluster.ts';

const HOLD_SECONDS = 6;
const clock = createSystemClock();

let cluster: JobCluster;
beforeAll(async () => {
  cluster = await startJobCluster();
  await ensureAccount(cluster.admin);
});
afterAll(() => cluster?.installed.stop());

async function start(
  machine: string,
  step: Step,
  input: JobStep['with'] & object,
  risk: 'None' | 'Pod',
): Promise<string> {
  await cluster.createMachine(machine);
  const plan: readonly JobStep[] = [jobStep('s1', step, { with: input })];
  return await cluster.createJob(machine, { action: step, risk, plan });
}

async function untilJob<T>(
  name: string,
  what: string,
  pick: (job: RemedyOperationJob) => T | undefined,
): Promise<T> {
  return await eventually(async () => pick(await cluster.job(name)), `${name}: ${what}`);
}

async function untilWait(name: string, reason: string): Promise<RemedyOperationJob> {
  return await untilJob(name, `it does not wait for ${reason}`, (job) =>
    job.status?.waiting?.reason === reason ? job : undefined,
  );
}

async function untilSettled(name: string): Promise<RemedyOperationJob> {
  return await untilJob(name, 'it did not end', (job) =>
    (job.metadata.finalizers ?? []).length === 0 ? job : undefined,
  );
}

/** It has been waiting for the condition for longer than the condition has to hold. */
function isAwayForHold({ status }: RemedyOperationJob): true | undefined {
  const { reason, since = '' } = status?.waiting ?? {};
  const isAway = clock.now().getTime() - Date.parse(since) > HOLD_SECONDS * 1000;
  return reason === 'Condition' && isAway ? true : undefined;
}

function timesOf({ status }: RemedyOperationJob): {
  readonly startedMs: number;
  readonly finishedMs: number;
} {
  const { startedAt = '', finishedAt = '' } = status?.steps?.[0] ?? {};
  return { startedMs: Date.parse(startedAt), finishedMs: Date.parse(finishedAt) };
}

/** How long its only step took. */
function secondsOf(job: RemedyOperationJob): number {
  const { startedMs, finishedMs } = timesOf(job);
  return (finishedMs - startedMs) / 1000;
}

async function runPod(name: string, memory: string, labels: Readonly<Record<string, string>>): Promise<void> {
  const resources = { requests: { memory } };
  const spec = {
    nodeName: 'evicting',
    terminationGracePeriodSeconds: 0,
    automountServiceAccountToken: false,
    containers: [{ name: 'main', image: 'x', resources }],
  };
  const metadata = { name, namespace: WEB.namespace, labels };
  await cluster.admin.create(PODS, { apiVersion: 'v1', kind: 'Pod', metadata, spec });
  const status = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: WEB.namespace }, status };
  await cluster.admin.apply(PODS, pod, { fieldManager: 'test', force: true, subresource: 'status' });
}

async function podNames(): Promise<readonly string[]> {
  const { items } = await cluster.admin.list(PODS, { namespace: WEB.namespace });
  return items.map(({ metadata }) => metadata.name).toSorted();
}

async function reportReady(machine: string, status: 'True' | 'False'): Promise<void> {
  await patchNodeStatus(cluster.admin, machine, { conditions: [condition('Ready', status)] });
}

async function eventsAbout(kind: string, name: string): Promise<readonly KubeObject[]> {
  const { items } = await cluster.admin.list(EVENTS);
  return items.filter(
    (event) => textAt(event, 'regarding', 'kind') === kind && textAt(event, 'regarding', 'name') === name,
  );
}

describe('a step of a repair on a real API server', () => {
  it('R35 EvictPods evicts the largest pods, waits for the budget that refuses and names it, and leaves the others', async () => {
    const { settled } = await cluster.startController();
    await cluster.createMachine('evicting');
    await runPod('large', '4Gi', WEB.labels);
    await runPod('middle', '2Gi', { app: 'other' });
    await runPod('small', '1Gi', { app: 'other' });
    await createBudget(cluster.admin);
    const plan = [jobStep('s1', 'EvictPods', { with: { by: 'memory', top: 2 } })];
    const name = await cluster.createJob('evicting', { action: 'EvictPods', risk: 'Pod', plan });
    const waiting = await untilWait(name, 'PodDisruptionBudget');
    expect(waiting.status?.waiting?.blocker).toEqual({
      kind: BUDGETS.kind,
      name: 'web',
      namespace: 'default',
    });
    expect(waiting.status?.drain).toMatchObject({ evicted: 0, pending: 1, blockedBy: ['default/large'] });
    expect(await podNames()).toEqual(['large', 'middle', 'small']);
    await deleteBudget(cluster.admin);
    const done = await untilSettled(name);
    expect(done.status?.outcome).toMatchObject({ class: 'Succeeded', reason: 'AllDone' });
    expect(done.status?.drain).toMatchObject({ total: 2, evicted: 2, pending: 0 });
    expect([await podNames(), settled]).toEqual([['small'], ['Succeeded']]);
  });

  it('R33 WaitForCondition waits for the status of the Node, and begins its hold again when the status changes', async () => {
    await cluster.startController();
    const name = await start(
      'waiting',
      'WaitForCondition',
      { type: 'Ready', holdSeconds: HOLD_SECONDS },
      'None',
    );
    await reportReady('waiting', 'False');
    const missing = await untilWait(name, 'Condition');
    expect(missing.status?.waiting?.message).toBe('condition Ready is False, expected True');
    await reportReady('waiting', 'True');
    await untilWait(name, 'ConditionHolding');
    await reportReady('waiting', 'False');
    await untilJob(name, 'the hold is not over', isAwayForHold);
    const againAt = clock.now();
    await reportReady('waiting', 'True');
    const done = await untilSettled(name);
    expect(done.status?.outcome?.class).toBe('Succeeded');
    expect(timesOf(done).finishedMs - againAt.getTime()).toBeGreaterThanOrEqual(HOLD_SECONDS * 1000);
  });

  it('R31 WaitForCondition fails when its time is over, and the job with it', async () => {
    await cluster.startController();
    await cluster.createMachine('late');
    await reportReady('late', 'False');
    const plan = [jobStep('s1', 'WaitForCondition', { with: { type: 'Ready' }, timeoutSeconds: 2 })];
    const name = await cluster.createJob('late', { action: 'WaitForCondition', risk: 'None', plan });
    const done = await untilSettled(name);
    expect(done.status?.outcome).toMatchObject({ class: 'Transient', reason: 'TimedOut' });
  });

  it.each([
    ['Owner', 'Machine', 'telling'],
    ['Workloads', 'Node', 'warning'],
  ])(
    'R33 Notify writes one Event for %s about the %s, and gives its receivers their time',
    async (to, kind, machine) => {
      await cluster.startController();
      const input = { signal: 'checkpoint-now', to, leadTimeSeconds: 6, message: 'save your work' };
      const name = await start(machine, 'Notify', input, 'None');
      await untilWait(name, 'LeadTime');
      const done = await untilSettled(name);
      expect(done.status?.steps?.[0]?.message).toBe(`checkpoint-now was sent to ${kind} ${machine}`);
      expect(secondsOf(done)).toBeGreaterThanOrEqual(6);
      const events = await eventually(async () => {
        const found = (await eventsAbout(kind, machine)).filter((event) =>
          (textAt(event, 'note') ?? '').startsWith('checkpoint-now'),
        );
        return found.length > 0 ? found : undefined;
      }, 'no Event was written');
      expect(events.map((event) => [textAt(event, 'note'), textAt(event, 'type')])).toEqual([
        ['checkpoint-now: save your work', 'Normal'],
      ]);
    },
  );

  it('HandOff does not wait for a receiver that fails, which is notified later, once', async () => {
    const receiver = await startNoticeReceiver();
    receiver.status = 503;
    const folder = tempFolder('notifications');
    writeFileSync(join(folder, 'token'), 'secret-1\n');
    const declared = [
      { name: 'tickets', type: 'Webhook', url: receiver.url, tokenFile: join(folder, 'token') },
    ];
    writeFileSync(join(folder, 'file'), JSON.stringify({ cluster: 'prod-1', receivers: declared }));
    const flags = { notifications: join(folder, 'file') };
    const notifications = await openNotifications(flags, { clock, random: () => 0 });
    await cluster.startController({ notifications });
    const name = await start('handed', 'HandOff', { severity: 'page', queue: 'dc-hands' }, 'None');
    await untilSettled(name);
    await eventually(async () => receiver.requests.length > 0 || undefined, 'nothing was sent');
    expect((await cluster.job(name)).metadata.annotations?.[ANNOTATION_NOTIFIED]).toBeUndefined();
    receiver.status = 204;
    await untilJob(
      name,
      'no receiver was notified',
      ({ metadata }) => metadata.annotations?.[ANNOTATION_NOTIFIED],
    );
    // The receiver is also notified of what jobs of other tests announced before.
    const accepted = receiver.requests.filter(
      ({ status, body }) => status === 204 && textAt(body, 'machine') === 'handed',
    );
    expect(accepted).toMatchObject([
      {
        authorization: 'Bearer secret-1',
        body: {
          version: 1,
          cluster: 'prod-1',
          machine: 'handed',
          job: name,
          severity: 'page',
          queue: 'dc-hands',
        },
      },
    ]);
  });
});
