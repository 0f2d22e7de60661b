/** Removes a control plane: its namespace with everything in it, and waits until it is away. */
import type { Client } from '../../../../../kube/client/client.ts';
import { isKubeError } from '../../../../../kube/client/errors.ts';
import { NAMESPACES } from '../../../../../kube/objects/core-kinds.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import type { PlaneOwner } from '../../driver.ts';
import {
  type FoundPlane,
  namespaceNotOurs,
  planeClaim,
  readHubPlane,
  readNamespace,
  requireOwnNamespace,
} from '../hub.ts';
import { remainingPods } from '../members/pods.ts';
import { WORKLOAD_MEMBERS } from '../names.ts';
import { notStopped } from './members.ts';
import { stillDeleted } from './prepare.ts';
import { changeRecord } from './record.ts';

interface RemoveParts {
  readonly client: Client;
  readonly clock: Clock;
}

/** An empty namespace takes a few seconds; a volume, some more. */
const REMOVE_MS = 30_000;
const POLL_MS = 200;

export async function beginRemoval(plane: PlaneOwner, { client }: RemoveParts): Promise<void> {
  const found = await readHubPlane(client, plane);
  if (found.claim === 'Other') throw namespaceNotOurs(found.where);
  if (!found.record) return;
  await changeRecord(client, plane, (record) =>
    record.isDestroying ? record : { ...record, isDestroying: true },
  );
}

export async function removeWorkload(plane: PlaneOwner, { client, clock }: RemoveParts): Promise<void> {
  const found = await readHubPlane(client, plane);
  if (found.claim === 'None') return;
  requireOwnNamespace(found);
  const running = runningPods(found);
  if (running.length > 0) throw notStopped(found, running);
  await deleteNamespace(client, found);
  const isAway = async (): Promise<boolean> =>
    planeClaim(await readNamespace(client, plane), plane) !== 'Own';
  const deadlineMs = clock.monotonicMs() + REMOVE_MS;
  if (!(await pollUntil(isAway, { clock, everyMs: POLL_MS, deadlineMs }))) throw stillDeleted(found.where);
}

function runningPods({ objects }: FoundPlane): readonly string[] {
  return WORKLOAD_MEMBERS.flatMap((member) => remainingPods(objects, member)).map(
    ({ metadata }) => metadata.name,
  );
}

/** By its UID: another one of the same name is never deleted. */
async function deleteNamespace(client: Client, { namespace }: FoundPlane): Promise<void> {
  const { name, uid, deletionTimestamp } = namespace?.metadata ?? {};
  if (name === undefined || uid === undefined || deletionTimestamp !== undefined) return;
  try {
    await client.delete(NAMESPACES, { name }, { uid });
  } catch (error) {
    if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
  }
}
