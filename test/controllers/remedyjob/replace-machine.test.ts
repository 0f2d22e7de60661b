/** A job that replaces its machine, with the whole controller of jobs. The test is the MachineSet, and the controller of Machines. */
import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type {
  Machine,
  RemedyOperationJob,
  RemedyOperationJobSpec,
} from '../../../src/api/generated/types.ts';
import { NODES } from '../../../src/kube/objects/core-kinds.ts';
import { createJobBed, type JobBed } from './job-bed.ts';
import { jobMachine, jobStep } from './jobs.ts';

const REPLACE: Partial<RemedyOperationJobSpec> = {
  plan: [jobStep('s1', 'ReplaceMachine', { onFailure: 'NextRung' })],
  verify: {
    holdSeconds: 10,
    timeoutSeconds: 60,
    target: 'Replacement',
    conditions: {
      all: [
        {
          fact: 'condition',
          params: { type: 'Ready' },
          path: '$.status',
          operator: 'equal',
          value: 'True',
        },
      ],
    },
  },
  onVerified: [jobStep('v1', 'Uncordon')],
};
const OWNER = {
  apiVersion: 'kubenode.dev/v1alpha1',
  kind: 'MachineSet',
  name: 'web',
  uid: 'set-1',
  controller: true,
};

async function started(isOwned = true): Promise<JobBed> {
  const bed = createJobBed();
  if (isOwned) editMachine(bed, { ownerReferences: [OWNER] });
  bed.createJob(REPLACE);
  bed.host.facts = (type) => ({ status: type === 'Ready' ? 'False' : 'True', observedSeconds: 300 });
  await bed.start();
  await bed.live(20);
  return bed;
}

function editMachine(bed: JobBed, metadata: Partial<Machine['metadata']>): void {
  const { apiVersion = '', kind = '', spec } = machineOf(bed) ?? {};
  bed.apply({ apiVersion, kind, metadata: { ...metadata, name: 'm' }, spec });
}

function machineOf(bed: JobBed): Machine | undefined {
  return bed.get<Machine>(MACHINES, 'm');
}

function markOf(bed: JobBed): unknown {
  return machineOf(bed)?.status?.replacement;
}

function jobOf(bed: JobBed): RemedyOperationJob {
  const job = bed.job();
  if (!job) throw new Error('the job does not exist');
  return job;
}

function deleteMachine(bed: JobBed): void {
  bed.delete(MACHINES, 'm');
  bed.delete(NODES, 'm');
}

function createOther(bed: JobBed): void {
  const labels = { 'kubenode.dev/machineset': 'web' };
  const { apiVersion, kind, spec } = jobMachine();
  bed.apply({ apiVersion, kind, metadata: { name: 'web-2', labels }, spec });
}

describe('a job that replaces its machine', () => {
  it('R30 records its intent before it marks the machine, and marks it with its own grant', async () => {
    const bed = await started();
    expect(markOf(bed)).toMatchObject({ grant: 'g-7-1', fence: 7, replacementFirst: false });
    const writes = bed.api.journal.map(({ what, body }) => `${what} ${JSON.stringify(body ?? {})}`);
    const intent = writes.findIndex((text) => text.includes('"machineSet":"web"'));
    expect(intent).toBeGreaterThanOrEqual(0);
    expect(writes.findIndex((text) => text.includes('"wasReady"'))).toBeGreaterThan(intent);
    expect(jobOf(bed).status).toMatchObject({ waiting: { reason: 'Replacing', blocker: { name: 'web' } } });
  });

  it('R37 succeeds when the new machine is healthy, and holds its grant until then', async () => {
    const bed = await started();
    deleteMachine(bed);
    await bed.live(20);
    expect(jobOf(bed).status).toMatchObject({ waiting: { reason: 'Replacing' } });
    createOther(bed);
    await bed.live(10);
    expect(jobOf(bed).status?.replacement).toMatchObject({ machineSet: 'web', machine: 'web-2' });
    expect(bed.host.settled).toEqual([]);
    bed.host.facts = (type) => (type === 'Ready' ? { status: 'True' } : {});
    await bed.live(30);
    expect(jobOf(bed).status?.outcome).toMatchObject({ class: 'Succeeded', reason: 'Verified' });
    expect(bed.host.settled).toEqual(['g-7-1 Succeeded']);
  });

  it('R37 fails when the new machine is not healthy in time', async () => {
    const bed = await started();
    deleteMachine(bed);
    createOther(bed);
    await bed.live(90);
    expect(jobOf(bed).status?.outcome).toMatchObject({ class: 'Transient', reason: 'NotVerified' });
    expect(bed.host.settled).toEqual(['g-7-1 Failed']);
  });

  it('R37 does not count the machine that takes its place while it does not exist any more', async () => {
    const bed = await started();
    deleteMachine(bed);
    createOther(bed);
    await bed.live(10);
    bed.delete(MACHINES, 'web-2');
    await bed.live(1);
    bed.host.facts = (type) => (type === 'Ready' ? { status: 'True' } : {});
    await bed.live(90);
    expect(jobOf(bed).status?.outcome).toMatchObject({ reason: 'NotVerified' });
  });

  it('R37 names what it waited for when no other machine took its place in time', async () => {
    const bed = await started();
    deleteMachine(bed);
    await bed.live(320);
    expect(jobOf(bed).status?.outcome).toMatchObject({
      class: 'Transient',
      reason: 'TimedOut',
      message: expect.stringContaining('MachineSet web creates another machine') as string,
    });
    expect(bed.host.settled).toEqual(['g-7-1 Failed']);
  });

  it('R33 withdraws the mark before it returns the grant, when the machine came back', async () => {
    const bed = await started();
    bed.host.facts = (type) => ({ status: type === 'Ready' ? 'True' : 'False' });
    await bed.live(30);
    expect(markOf(bed)).toBeUndefined();
    expect(machineOf(bed)).toBeDefined();
    expect(jobOf(bed).status?.outcome).toMatchObject({ class: 'Cancelled', reason: 'RuleRefuted' });
    expect(bed.host.settled).toHaveLength(1);
  });

  it('R33 does not stop once the deletion has begun', async () => {
    const bed = await started();
    editMachine(bed, { ownerReferences: [OWNER], finalizers: ['test/drain'] });
    bed.delete(MACHINES, 'm');
    bed.host.facts = (type) => ({ status: type === 'Ready' ? 'True' : 'False' });
    bed.host.renewal = 'denied';
    await bed.live(20);
    expect(jobOf(bed).status).toMatchObject({ waiting: { reason: 'Replacing' } });
    expect(jobOf(bed).status?.outcome).toBeUndefined();
  });

  it('R34 removes the mark of a job that was deleted by force', async () => {
    const bed = await started();
    bed.removeJobByForce();
    await bed.live(10);
    expect(bed.job()).toBeUndefined();
    expect(markOf(bed)).toBeUndefined();
  });

  it('marks nothing while its grant is denied', async () => {
    const bed = createJobBed();
    editMachine(bed, { ownerReferences: [OWNER] });
    bed.host.renewal = 'denied';
    bed.createJob(REPLACE);
    await bed.start();
    await bed.live(20);
    expect(markOf(bed)).toBeUndefined();
    expect(jobOf(bed).status).toMatchObject({ waiting: { reason: 'GrantDenied' } });
  });

  it('R36 is superseded when somebody else deleted the machine before', async () => {
    const bed = createJobBed();
    bed.createJob(REPLACE);
    deleteMachine(bed);
    await bed.start();
    await bed.live(10);
    expect(jobOf(bed).status?.outcome).toMatchObject({ class: 'Superseded' });
  });

  it('leads to the next rung for a machine without a set, and names it', async () => {
    const bed = await started(false);
    expect(markOf(bed)).toBeUndefined();
    expect(jobOf(bed).status?.outcome).toMatchObject({
      class: 'Permanent',
      reason: 'NoMachineSet',
      message: expect.stringContaining('Machine m belongs to no MachineSet') as string,
    });
  });
});
