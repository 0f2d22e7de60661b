/** The live state of one repair job, or of all, from a watch. */
import { REMEDY_OPERATION_JOBS } from '../../../../api/generated/resources.ts';
import type { RemedyOperationJob } from '../../../../api/generated/types.ts';
import { createLiveFeed, type LiveFeed } from '../../../../kube/cache/live-feed.ts';
import { createView } from '../../../../kube/cache/view.ts';
import type { Client } from '../../../../kube/client/client.ts';
import type { Clock } from '../../../../os/clock.ts';
import { type JobView, viewJob } from '../../../../views/repair/job.ts';
import { sortJobs } from '../../../../views/repair/list.ts';

export interface JobFeedOptions {
  readonly client: Client;
  readonly clock: Clock;
}

export function createJobFeed({
  job: name,
  ...options
}: JobFeedOptions & { readonly job: string }): LiveFeed<JobView> {
  return createLiveFeed(options, (parts) => {
    const jobs = createView<RemedyOperationJob>({
      ...parts,
      resource: REMEDY_OPERATION_JOBS,
      fieldSelector: `metadata.name=${name}`,
    });
    return {
      views: [jobs],
      current() {
        const job = jobs.store.get(name);
        return job && viewJob(job);
      },
    };
  });
}

/** Never ends: without jobs it is empty. */
export function createJobsFeed(
  options: JobFeedOptions,
  isAsked: (view: JobView) => boolean,
): LiveFeed<readonly JobView[]> {
  return createLiveFeed(options, (parts) => {
    const jobs = createView<RemedyOperationJob>({ ...parts, resource: REMEDY_OPERATION_JOBS });
    return {
      views: [jobs],
      current: () => sortJobs([...jobs.store.list()].map(viewJob).filter(isAsked)),
    };
  });
}
