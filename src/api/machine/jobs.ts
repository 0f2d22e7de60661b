/** Selects the jobs of one machine from an index: there are as many jobs as the fleet had repairs in weeks. */
import type { Store } from '../../kube/cache/store.ts';
import type { RemedyOperationJob } from '../generated/types.ts';
import { LABEL_HARDWARE } from '../names.ts';

const MACHINE = 'machine';
const GRANT = 'grant';
const HARDWARE = 'hardware';

/** Indexes the view of RemedyOperationJobs by machine, by grant and by hardware. */
export const JOB_INDEXERS = {
  [MACHINE]: ({ spec }: RemedyOperationJob): readonly string[] => [spec.machine.name],
  [GRANT]: ({ spec }: RemedyOperationJob): readonly string[] => [spec.grant.id],
  [HARDWARE]: ({ metadata }: RemedyOperationJob): readonly string[] => {
    const hardware = metadata.labels?.[LABEL_HARDWARE];
    return hardware === undefined ? [] : [hardware];
  },
};

type IndexedJobs = Pick<Store<RemedyOperationJob>, 'byIndex'>;

export function jobsOn(machine: string, jobs: IndexedJobs): readonly RemedyOperationJob[] {
  return jobs.byIndex(MACHINE, machine);
}

/** Returns the job with the grant. Only one job is created with a grant. */
export function jobWithGrant(id: string, jobs: IndexedJobs): RemedyOperationJob | undefined {
  return jobs.byIndex(GRANT, id)[0];
}

/** Returns the jobs of every Machine that the hardware was or is. */
export function jobsOfHardware(hardware: string, jobs: IndexedJobs): readonly RemedyOperationJob[] {
  return jobs.byIndex(HARDWARE, hardware);
}
