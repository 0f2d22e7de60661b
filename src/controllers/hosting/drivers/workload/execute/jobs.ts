/** Reads, creates and deletes a Job of a control plane by its name. Each act can be repeated, also by another process of hosting. */
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../../../kube/client/errors.ts';
import { PODS } from '../../../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { planeNamespace } from '../names.ts';
import { JOBS } from '../snapshot/containers.ts';
import { type SnapshotState, snapshotState } from '../snapshot/state.ts';
import { AS_HOSTING } from './record.ts';

export interface NamedJob {
  readonly client: Client;
  readonly clock: Clock;
  readonly cluster: string;
  readonly name: string;
}

export async function readJob({ client, cluster, name }: NamedJob): Promise<KubeObject | undefined> {
  return await unlessMissing(client.get(JOBS, { name, namespace: planeNamespace(cluster) }));
}

/** Another process of hosting may have created it. */
export async function createJob({ client }: NamedJob, job: KubeObject): Promise<void> {
  try {
    await client.create(JOBS, job, AS_HOSTING);
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
}

/** In the foreground, so that it is away only after its pods are. */
export async function deleteJob(named: NamedJob): Promise<void> {
  const job = await readJob(named);
  if (!job || job.metadata.deletionTimestamp !== undefined) return;
  const { name, namespace = '', uid = '' } = job.metadata;
  const options = { uid, propagation: 'Foreground' } as const;
  try {
    await named.client.delete(JOBS, { name, namespace }, options);
  } catch (error) {
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
  }
}

/** Returns the pods that the Job made. One that only has its name is somebody else's. */
export async function podsOfJob(
  { client, cluster, name }: NamedJob,
  job: KubeObject,
): Promise<readonly KubeObject[]> {
  const options = { namespace: planeNamespace(cluster), labelSelector: `job-name=${name}` };
  const { items } = await client.list(PODS, options);
  const uid = job.metadata.uid ?? '';
  return items.filter(({ metadata }) => metadata.ownerReferences?.some((owner) => owner.uid === uid));
}

/** One that somebody deleted is made again by the next attempt. */
export async function readJobState(named: NamedJob): Promise<SnapshotState> {
  const job = await readJob(named);
  if (!job) return { type: 'Blocked', problem: `Job ${named.name} was deleted` };
  return snapshotState(job, { pods: await podsOfJob(named, job), now: named.clock.now() });
}
