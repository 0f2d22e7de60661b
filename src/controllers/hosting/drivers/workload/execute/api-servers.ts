/**
 * Changes how many API servers a control plane has. One that is not counted any more has been stopped, and its Deployment is deleted before the
 * number is recorded: killed in between, hosting finds one that is stopped, and does the same again.
 */
import { isKubeError } from '../../../../../kube/client/errors.ts';
import type { KubeObject } from '../../../../../kube/objects/object.ts';
import { HostingError } from '../../../errors.ts';
import type { PlaneOwner } from '../../driver.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { remainingPods } from '../members/pods.ts';
import { apiServersOf, type WorkloadMember } from '../names.ts';
import { DEPLOYMENTS } from '../objects/workloads.ts';
import { withApiServers } from '../record.ts';
import { isDesired, memberNotPrepared, type WorkloadParts } from './members.ts';
import { changeRecord } from './record.ts';

type Parts = Pick<WorkloadParts, 'client'>;

export async function changeApiServers(plane: PlaneOwner, count: number, { client }: Parts): Promise<void> {
  const found = await readHubPlane(client, plane);
  requireOwnNamespace(found);
  if (!found.record) throw memberNotPrepared(found, 'kube-apiserver');
  const before = apiServersOf(found.record);
  if (found.record.isDestroying || before.length === count) return;
  const removed = before.slice(count);
  requireEnded(found, removed);
  for (const member of removed) await deleteWorkload(found.objects.workloads.get(member), { client });
  await changeRecord(client, plane, (record) =>
    record.isDestroying ? record : withApiServers(record, count),
  );
}

function requireEnded(found: FoundPlane, removed: readonly WorkloadMember[]): void {
  const { objects, where } = found;
  const running = removed.find(
    (member) => isDesired(found, member) || remainingPods(objects, member).length > 0,
  );
  if (running === undefined) return;
  throw new HostingError('NotStopped', `${running} runs, and is not to be counted any more`, {
    where,
    hint: 'nothing to do: hosting stops it first',
  });
}

/** By its UID: one that was made since has pods. */
async function deleteWorkload(workload: KubeObject | undefined, { client }: Parts): Promise<void> {
  const { name, namespace = '', uid } = workload?.metadata ?? {};
  if (name === undefined || uid === undefined) return;
  try {
    await client.delete(DEPLOYMENTS, { name, namespace }, { uid });
  } catch (error) {
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
  }
}
