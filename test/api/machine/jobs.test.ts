import { describe, expect, it } from 'vitest';
import type { RemedyOperationJob } from '../../../src/api/generated/types.ts';
import { JOB_INDEXERS, jobsOfHardware, jobsOn, jobWithGrant } from '../../../src/api/machine/jobs.ts';
import { createStore } from '../../../src/kube/cache/store.ts';
import { memoryLog } from '../../support/memory-log.ts';
import { remedyJob } from '../../support/remediers.ts';

describe('the indexes of jobs', () => {
  it('have the jobs of a machine, and the one of a grant, and none for names that no job has', () => {
    const store = createStore<RemedyOperationJob>({ log: memoryLog(), indexers: JOB_INDEXERS });
    const job = remedyJob({ machine: 'm-1' });
    store.replace([job, remedyJob({ machine: 'm-2' })], '1');
    expect(jobsOn('m-1', store)).toEqual([job]);
    expect(jobWithGrant(job.spec.grant.id, store)?.spec.grant.id).toBe(job.spec.grant.id);
    expect([jobsOn('constructor', store), jobWithGrant('constructor', store)]).toEqual([[], undefined]);
  });

  it('R26 have the jobs of hardware, whichever Machine it was', () => {
    const store = createStore<RemedyOperationJob>({ log: memoryLog(), indexers: JOB_INDEXERS });
    const first = onHardware(remedyJob({ machine: 'm-1' }), '9f31');
    const second = onHardware(remedyJob({ machine: 'm-2' }), '9f31');
    store.replace([first, second, onHardware(remedyJob({ machine: 'm-3' }), '77aa')], '1');
    expect(jobsOfHardware('9f31', store)).toEqual([first, second]);
    expect(jobsOfHardware('constructor', store)).toEqual([]);
  });
});

function onHardware(job: RemedyOperationJob, hardware: string): RemedyOperationJob {
  return { ...job, metadata: { ...job.metadata, labels: { 'kubenode.dev/hardware': hardware } } };
}
