import { describe, expect, it } from 'vitest';
import { MACHINES } from '../../../src/api/generated/resources.ts';
import type { Machine, RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { createJobBed, type JobBed } from './job-bed.ts';

async function started(): Promise<JobBed> {
  const bed = createJobBed();
  bed.createJob();
  await bed.start();
  return bed;
}

function stepsOf({ status }: RemedyOperationJob): readonly string[] {
  return (status?.steps ?? []).map(({ id, state }) => `${id} ${state}`);
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
    expect(bed.node()?.['spec']).not.toHaveProperty('unschedulable');
    expect(bed.node()?.metadata.annotations ?? {}).toEqual({});
    expect(job.metadata.finalizers).toEqual([]);
    const { repairs } = bed.get<Machine>(MACHINES, 'm')?.status ?? {};
    expect(repairs).toMatchObject({ total: 1, recent: [{ risk: 'Node', outcome: 'Succeeded' }] });
  });
});
