import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { isCordoned } from '../../../src/api/machine/node-state.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createJobBed, type JobBed } from './job-bed.ts';
import { REBOOT_PLAN } from './jobs.ts';

async function started(): Promise<JobBed> {
  const bed = createJobBed();
  bed.createJob();
  await bed.start();
  return bed;
}

function stepsOf({ status }: RemedyOperationJob): readonly string[] {
  return (status?.steps ?? []).map(({ id, state }) => `${id} ${state}`);
}

/** The node is cordoned and drained, and the release of the reboot is out. */
async function silentAtReboot(): Promise<JobBed> {
  const bed = createJobBed();
  bed.host.isAgentSilent = true;
  bed.createJob({ plan: REBOOT_PLAN.slice(1) });
  await bed.start();
  await bed.live(10);
  expect([isCordoned(bed.node()), bed.job()?.status?.release?.step]).toEqual([true, 's4']);
  return bed;
}

function needsPerson(bed: JobBed): unknown {
  const { conditions = [] } = bed.get<Machine>(MACHINES, 'm')?.status ?? {};
  return conditions.find(({ type }) => type === 'NeedsPerson');
}

describe('a repair job', () => {
  it('R33 R34 R37 drains, reboots once, verifies by facts, uncordons, and settles its grant', async () => {
    const bed = await started();
    await bed.live(120);
    const job = bed.job() as RemedyOperationJob;
    expect(bed.host.acts).toEqual(['CollectDiagnostics', 'Reboot']);
    expect(stepsOf(job)).toEqual([
      's1 Succeeded',
      's2 Undone',
      's3 Succeeded',
      's4 Succeeded',
      's5 Succeeded',
      'v1 Succeeded',
    ]);
    expect(job.status).toMatchObject({
      phase: 'Succeeded',
      outcome: { class: 'Succeeded', reason: 'Verified' },
    });
    expect(bed.host.settled).toEqual(['g-7-1 Succeeded']);
    expect(bed.host.counted).toEqual(['Succeeded']);
    expect(bed.node()?.['spec']).not.toHaveProperty('unschedulable');
    expect(bed.node()?.metadata.annotations ?? {}).toEqual({});
    expect(job.metadata.finalizers).toEqual([]);
    const { repairs } = bed.get<Machine>(MACHINES, 'm')?.status ?? {};
    expect(repairs).toMatchObject({ total: 1, recent: [{ risk: 'Node', outcome: 'Succeeded' }] });
  });

  it('R37 verifies as soon as a fact of its machine changes, and not for a heartbeat', async () => {
    const bed = createJobBed();
    const facts = { ...bed.host }.facts;
    bed.host.facts = (type) => (type === 'Ready' ? { status: 'False' } : facts(type));
    bed.createJob();
    await bed.start();
    const waitsFor = (): string | undefined => bed.job()?.status?.waiting?.reason;
    for (let turn = 0; turn < 100 && waitsFor() !== 'FaultPresent'; turn += 1) await bed.live(0.5);
    // The write of the wait itself leads to one more reconcile; the next one is five seconds later.
    await bed.live(1);
    bed.host.facts = facts;
    const change = { machine: 'm', topics: ['condition Ready'] };
    for (const listener of bed.host.factListeners) listener({ ...change, silentMs: 10_000 });
    await bed.live(0.5);
    expect(waitsFor()).toBe('FaultPresent');
    for (const listener of bed.host.factListeners) listener(change);
    await bed.live(0.5);
    expect(waitsFor()).toBe('VerificationHolding');
  });

  it('R33 starts nothing and withdraws its release while the grant is denied, and goes on afterwards', async () => {
    const bed = await started();
    bed.host.renewal = 'denied';
    await bed.live(20);
    expect(bed.job()?.status).toMatchObject({ phase: 'Waiting', waiting: { reason: 'GrantDenied' } });
    expect(bed.job()?.status).not.toHaveProperty('release');
    expect(isCordoned(bed.node())).toBe(false);
    bed.host.renewal = 'granted';
    await bed.live(120);
    expect(bed.job()?.status?.phase).toBe('Succeeded');
  });

  it('R33 stops when its grant is lost, and R34 keeps the sick node cordoned until a person decides', async () => {
    const bed = await silentAtReboot();
    bed.host.renewal = 'lost';
    await bed.live(60);
    expect(bed.job()?.status?.outcome).toMatchObject({ class: 'Transient', reason: 'GrantLost' });
    expect(bed.job()?.metadata.finalizers).toEqual([]);
    expect(isCordoned(bed.node())).toBe(true);
    await bed.advance(3_700_000);
    expect(needsPerson(bed)).toMatchObject({ status: 'True', reason: 'CordonKept' });
    expect([isCordoned(bed.node()), bed.node()?.metadata.annotations]).toEqual([true, {}]);
    await bed.advance(700_000);
    expect(needsPerson(bed)).toMatchObject({ status: 'True' });
    bed.host.facts = () => ({ status: 'False' });
    await bed.advance(700_000);
    expect(needsPerson(bed)).toMatchObject({ status: 'False', reason: 'CaseClosed' });
  });

  it('R33 verifies a reboot that ended the fault before the agent and the kubelet reported it', async () => {
    const bed = createJobBed();
    const hasRebooted = (): boolean => bed.host.acts.includes('Reboot');
    bed.host.facts = (type) => ({
      status: hasRebooted() === (type === 'Ready') ? 'True' : 'False',
      observedSeconds: 300,
    });
    [bed.host.reportDelayMs, bed.host.bootDelayMs] = [5000, 8000];
    bed.createJob({ plan: REBOOT_PLAN.slice(1) });
    await bed.start();
    for (let turn = 0; turn < 60 && !hasRebooted(); turn += 1) await bed.live(0.5);
    await bed.live(2);
    expect(bed.job()?.status).toMatchObject({ waiting: { reason: 'Stopping' } });
    await bed.live(120);
    expect(bed.host.acts).toEqual(['Reboot']);
    expect(bed.job()?.status).toMatchObject({ outcome: { class: 'Succeeded', reason: 'Verified' } });
    expect(bed.host.settled).toEqual(['g-7-1 Succeeded']);
    expect(isCordoned(bed.node())).toBe(false);
  });

  it('R33 stops a reboot that the agent has not begun when the fault has ended, and uncordons', async () => {
    const bed = await silentAtReboot();
    bed.host.facts = () => ({ status: 'False' });
    await bed.live(30);
    expect(bed.host.acts).toEqual([]);
    expect(bed.job()?.status?.outcome).toMatchObject({ class: 'Cancelled', reason: 'RuleRefuted' });
    expect(isCordoned(bed.node())).toBe(false);
  });

  it('R36 ends at once when the Node is deleted, and settles its grant', async () => {
    const bed = await started();
    await bed.live(2);
    bed.delete(NODES, 'm');
    await bed.live(3);
    expect(bed.job()?.status).toMatchObject({ phase: 'Superseded', outcome: { reason: 'NodeReplaced' } });
    expect(bed.host.settled).toEqual(['g-7-1 Unused']);
  });

  it('R34 leaves no cordon behind when its job is removed by force', async () => {
    const bed = await silentAtReboot();
    bed.removeJobByForce();
    await bed.live(65);
    expect(isCordoned(bed.node())).toBe(false);
    expect(bed.job()).toBeUndefined();
  });
});
