/** Selects the jobs of one machine from an index: there are as many jobs as the fleet had repairs in weeks. */
import type { Store } from '../../kube/cache/store.ts';
import type { RemedyOperationJob } from '../generated/types.ts';

const MACHINE = 'machine';
const GRANT = 'grant';

/** Indexes the view of RemedyOperationJobs by machine and by grant. */
export const JOB_INDEXERS = {
  [MACHINE]: ({ spec }: RemedyOperationJob): readonly string[] => [spec.machine.name],
  [GRANT]: ({ spec }: RemedyOperationJob): readonly string[] => [spec.grant.id],
};

type IndexedJobs = Pick<Store<RemedyOperationJob>, 'byIndex'>;

export function jobsOn(machine: string, jobs: IndexedJobs): readonly RemedyOperationJob[] {
  return jobs.byIndex(MACHINE, machine);
}

/** Returns the job with the grant. Only one job is created with a grant. */
export function jobWithGrant(id: string, jobs: IndexedJobs): RemedyOperationJob | undefined {
  return jobs.byIndex(GRANT, id)[0];
}
