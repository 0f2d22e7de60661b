import { describe, expect, it } from 'vitest';
import { HostError } from '../../../src/agent/host/errors.ts';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createJobHost, WEB } from '../../support/agent/job-host.ts';
import { type JobFields, later, repairJob } from '../../support/agent/jobs.ts';
import { settle } from '../../support/virtual-clock.ts';

const STEPS: readonly (readonly [string, JobFields['plan']])[] = [
  ['RestartService', {}],
  ['RearmDetector', { step: 'RearmDetector@v1', with: {} }],
  ['CollectDiagnostics', { step: 'CollectDiagnostics@v1', with: {} }],
  ['CleanDisk', { step: 'CleanDisk@v1', with: { targets: ['rotatedLogs'], maxDelete: '1Mi' } }],
  ['Reboot', { step: 'Reboot@v1', with: {} }],
];

describe('repair jobs on a host', () => {
  it.each(STEPS)('AGT-50 carries out %s, and reports its result', async (_, plan = {}) => {
    const jobs = await createJobHost([repairJob({ plan })]);
    await jobs.run(await jobs.start(), 3);
    expect(jobs.answer()).toMatchObject({
      id: 's1',
      try: 1,
      fence: 7,
      state: 'Succeeded',
      bootIDBefore: 'boot-1',
    });
    expect(jobs.answer()?.startedAt).toBeDefined();
    expect(jobs.answer()?.finishedAt).toBeDefined();
  });

  it('AGT-50 restarts an allowed service once, and refuses another one', async () => {
    const other = repairJob({ name: 'job-2', plan: { with: { service: 'sshd' } } });
    const jobs = await createJobHost([repairJob(), other]);
    await jobs.run(await jobs.start(), 5);
    expect(jobs.restarts()).toEqual({ stops: 1, starts: 1, active: true });
    expect(jobs.answer('job-2')).toEqual({
      id: 's1',
      try: 1,
      fence: 7,
      state: 'Refused',
      code: 'NotAllowed',
      message:
        'the configuration of this agent does not allow sshd: services in /etc/kubenode/jobs.json are web, proxy',
      finishedAt: expect.any(String) as string,
    });
  });

  it('refuses more restarts of a service within an hour than its configuration allows', async () => {
    const jobs = await createJobHost();
    const agent = await jobs.start();
    for (const attempt of [1, 2, 3]) {
      const release = { try: attempt, notAfter: later(40, jobs.clock.now()) };
      jobs.api.repairs.set('job-1', {
        ...repairJob({ release }),
        status: statusOf(jobs.api.repairs.get('job-1'), release),
      });
      await jobs.run(agent, 3);
    }
    expect(jobs.answer()).toMatchObject({ try: 3, state: 'Refused', code: 'TooOften' });
    expect(jobs.restarts()).toMatchObject({ starts: 2 });
  });

  it('AGT-51 does nothing more about a step that it reported, also after a restart of the agent', async () => {
    const jobs = await createJobHost([repairJob({ plan: { step: 'Reboot@v1', with: {} } })]);
    await jobs.run(await jobs.start(), 3);
    expect(jobs.host.reboots()).toBe(1);
    await jobs.run(await jobs.start(), 30);
    // A release that somebody writes again, as it was.
    jobs.api.repairs.set('job-1', repairJob({ plan: { step: 'Reboot@v1', with: {} } }));
    await jobs.run(await jobs.start(), 30);
    expect(jobs.host.reboots()).toBe(1);
    expect(jobs.answer()).toMatchObject({
      state: 'Succeeded',
      bootIDBefore: 'boot-1',
      bootIDAfter: 'boot-2',
    });
  });

  it('AGT-52 refuses a step after it was paused for half an hour, wherever that was', async () => {
    const jobs = await createJobHost([repairJob()]);
    const agent = await jobs.start();
    await jobs.clock.stall(30 * 60_000);
    await jobs.run(agent, 3);
    expect(jobs.answer()).toMatchObject({ state: 'Refused', code: 'ReleaseExpired' });
    expect(jobs.restarts()).toEqual({ stops: 0, starts: 0, active: true });
  });

  it('AGT-52 begins nothing when the pause comes between the record and the act', async () => {
    const jobs = await createJobHost([repairJob()]);
    const slow = { ...jobs.host, files: Object.create(jobs.host.files) as typeof jobs.host.files };
    slow.files.append = async (path, content) => {
      await jobs.host.files.append(path, content);
      if (new TextDecoder().decode(content).includes('"Begun"')) await jobs.clock.stall(30 * 60_000);
    };
    for (const name of [
      'stat',
      'read',
      'list',
      'write',
      'remove',
      'makeDirectory',
      'rename',
      'watch',
    ] as const) {
      slow.files[name] = jobs.host.files[name].bind(jobs.host.files) as never;
    }
    await jobs.run(await jobs.start(slow), 3);
    expect(jobs.answer()).toMatchObject({ state: 'Failed', code: 'ReleaseExpired' });
    expect(jobs.restarts()).toEqual({ stops: 0, starts: 0, active: true });
  });

  it('AGT-52 judges the end of a release by the time since it was received, when the clock goes back', async () => {
    const jobs = await createJobHost([repairJob()]);
    jobs.api.nodeUidNow = undefined;
    const agent = await jobs.start();
    await jobs.run(agent, 30);
    expect(jobs.answer()).toMatchObject({ state: 'Running', code: 'NodeUnknown' });
    jobs.clock.jumpWall(-25_000);
    await jobs.run(agent, 25);
    jobs.api.nodeUidNow = 'node-1';
    await jobs.run(agent, 3);
    expect(jobs.answer()).toMatchObject({ state: 'Refused', code: 'ReleaseExpired' });
    expect(jobs.restarts()).toMatchObject({ starts: 0 });
  });

  it('AGT-52 ends a release a minute after it was received, whatever end it claims', async () => {
    const jobs = await createJobHost([repairJob({ release: { notAfter: later(3600) } })]);
    jobs.api.nodeUidNow = undefined;
    const agent = await jobs.start();
    await jobs.run(agent, 61);
    jobs.api.nodeUidNow = 'node-1';
    await jobs.run(agent, 2);
    expect(jobs.answer()).toMatchObject({ state: 'Refused', code: 'ReleaseExpired' });
  });

  it('AGT-52 stops between two steps of a cancelled job', async () => {
    const second = {
      id: 's2',
      step: 'Reboot@v1',
      executor: 'Agent',
      risk: 'Node',
      timeoutSeconds: 60,
    } as const;
    const plan = [...repairJob().spec.plan, { ...second, onFailure: 'Fail', onTimeout: 'Fail' } as const];
    const jobs = await createJobHost([repairJob({ spec: { plan } })]);
    const agent = await jobs.start();
    await jobs.run(agent, 3);
    const cancel = { by: 'anna', reason: 'the node is fine' };
    const released = repairJob({ spec: { plan, cancel }, release: { step: 's2' } });
    jobs.api.repairs.set('job-1', {
      ...released,
      status: statusOf(jobs.api.repairs.get('job-1'), { step: 's2' }),
    });
    await jobs.run(agent, 3);
    const steps = jobs.api.repairs.get('job-1')?.status?.agent?.steps;
    expect(steps?.map(({ id, state, code }) => `${id} ${state} ${code ?? ''}`)).toEqual([
      's1 Succeeded ',
      's2 Refused Cancelled',
    ]);
    expect(jobs.host.reboots()).toBe(0);
  });

  it('reports that a release was withdrawn while its step waited', async () => {
    const jobs = await createJobHost([repairJob()]);
    jobs.api.nodeUidNow = undefined;
    const agent = await jobs.start();
    await jobs.run(agent, 2);
    expect(jobs.answer()).toMatchObject({ state: 'Running', code: 'NodeUnknown' });
    const { release: _withdrawn, ...status } = jobs.api.repairs.get('job-1')?.status ?? { conditions: [] };
    jobs.api.repairs.set('job-1', { ...repairJob(), status });
    await jobs.run(agent, 2);
    expect(jobs.answer()).toMatchObject({ state: 'Refused', code: 'Withdrawn' });
    jobs.api.nodeUidNow = 'node-1';
    jobs.api.repairs.set('job-1', { ...repairJob(), status: statusOf(jobs.api.repairs.get('job-1'), {}) });
    await jobs.run(agent, 2);
    expect(jobs.restarts()).toMatchObject({ starts: 0 });
  });

  it('reports after an outage of the API server what it did meanwhile', async () => {
    const jobs = await createJobHost([repairJob()]);
    const agent = await jobs.start();
    await agent.reconcile();
    jobs.api.online = false;
    await jobs.run(agent, 5);
    expect(jobs.restarts()).toMatchObject({ starts: 1 });
    jobs.api.online = true;
    await jobs.run(agent, 1);
    expect(jobs.answer()).toMatchObject({ state: 'Succeeded' });
  });

  it('AGT-53 ends a step whose service does not stop, and begins nothing beside it', async () => {
    const jobs = await createJobHost([repairJob()]);
    const hang = Promise.withResolvers<void>();
    const host = { ...jobs.host, units: Object.create(jobs.host.units) as typeof jobs.host.units };
    for (const name of ['status', 'start', 'logTail'] as const) {
      host.units[name] = jobs.host.units[name].bind(jobs.host.units) as never;
    }
    host.units.stop = () => hang.promise;
    const agent = await jobs.start(host);
    await jobs.run(agent, 62);
    expect(jobs.answer()).toMatchObject({ state: 'Failed', code: 'TimedOut' });
    const next = { try: 2, notAfter: later(40, jobs.clock.now()) };
    jobs.api.repairs.set('job-1', { ...repairJob(), status: statusOf(jobs.api.repairs.get('job-1'), next) });
    await jobs.run(agent, 2);
    expect(jobs.answer()).toMatchObject({ try: 2, state: 'Running', code: 'StepRunning' });
    hang.resolve();
    await jobs.run(agent, 3);
    expect(jobs.answer()).toMatchObject({ try: 2 });
    expect((await jobs.host.units.status(WEB))?.active).toBe('Active');
  });

  it.each([
    ['refuses it', new HostError('NotStopped', 'the machine did not reboot')],
    ['ends the agent first', new Error('stopped by SIGTERM')],
  ])('AGT-51 never reports that a reboot failed when the host %s: it may still come', async (_, error) => {
    const jobs = await createJobHost([repairJob({ plan: { step: 'Reboot@v1', with: {} } })]);
    const reboot = jobs.host.node.reboot.bind(jobs.host.node);
    let requests = 0;
    jobs.host.node.reboot = async () => {
      requests += 1;
      throw error;
    };
    const agent = await jobs.start();
    await jobs.run(agent, 30);
    expect(jobs.answer()).toMatchObject({ state: 'Running' });
    await agent[Symbol.asyncDispose]();
    await reboot();
    await jobs.run(await jobs.start(), 2);
    expect(jobs.answer()).toMatchObject({ state: 'Succeeded', bootIDAfter: 'boot-2' });
    const other = await createJobHost([repairJob({ plan: { step: 'Reboot@v1', with: {} } })]);
    other.host.node.reboot = async () => {
      throw error;
    };
    await other.run(await other.start(), 62);
    expect(other.answer()).toMatchObject({ state: 'Ambiguous' });
    expect(requests).toBe(1);
  });

  it('leaves no timer behind when the agent ends during a step', async () => {
    const jobs = await createJobHost([repairJob({ plan: { step: 'Reboot@v1', with: {} } })]);
    jobs.host.node.reboot = () => Promise.reject(new Error('stopped'));
    const agent = await jobs.start();
    await jobs.run(agent, 2);
    expect(jobs.clock.sleepers).toBeGreaterThan(0);
    await agent[Symbol.asyncDispose]();
    await settle();
    expect(jobs.clock.sleepers).toBe(0);
  });

  it('refuses every step that asks a configuration which cannot be read', async () => {
    const jobs = await createJobHost([repairJob()]);
    await jobs.host.files.write('/etc/kubenode/jobs.json', new TextEncoder().encode('{"services": "all"}'), {
      mode: '0644',
      owner: 'root:root',
    });
    await jobs.run(await jobs.start(), 2);
    expect(jobs.answer()).toMatchObject({
      state: 'Refused',
      code: 'BadConfig',
      message: '/etc/kubenode/jobs.json: the field services is unknown or has a wrong value',
    });
  });
});

/** What the agent answered stays; the job controller releases something else. */
function statusOf(
  before: RemedyOperationJob | undefined,
  release: JobFields['release'],
): NonNullable<RemedyOperationJob['status']> {
  const { agent } = before?.status ?? {};
  const { status } = repairJob({ release: release ?? {} });
  return { conditions: [], ...status, ...(agent && { agent }) };
}
