/** Reports the database of an etcd of pods, and makes it smaller: each member is asked at its pod, with the certificate of the API server. */

import type { Client } from '../../../../../kube/client/client.ts';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { Clock } from '../../../../../os/clock.ts';
import type { EtcdSpace, PlaneOwner } from '../../driver.ts';
import type { EtcdAsking } from '../../etcd/membership.ts';
import { shrinkOrReject } from '../../etcd/space.ts';
import { ETCD_QUOTA } from '../../runs.ts';
import { recordWorkloadAttempt } from '../execute/attempt.ts';
import { memberNotPrepared } from '../execute/members.ts';
import { type FoundPlane, readHubPlane, requireOwnNamespace } from '../hub.ts';
import { attemptOf, type WorkloadRecord } from '../record.ts';
import { recordedRun } from '../runs.ts';
import { podPlaces } from './places.ts';

interface SpaceParts {
  readonly client: Client;
  readonly clock: Clock;
  readonly asking: EtcdAsking;
}

/** Undefined: no member answers from here. */
export async function reportPodSpace(
  found: FoundPlane,
  { asking, now }: { readonly asking: EtcdAsking; readonly now: Date },
): Promise<EtcdSpace | undefined> {
  const { record } = found;
  const places = podPlaces(found, now);
  const sizes = places && (await asking.readSpace(places));
  if (!record || !sizes) return undefined;
  return { ...sizes, quotaBytes: quotaOf(record), ...optional('attempt', attemptOf(record, 'space')) };
}

/** Rejects unless every member can be asked: one that is made smaller does not answer meanwhile. */
export async function shrinkPods(plane: PlaneOwner, { client, clock, asking }: SpaceParts): Promise<void> {
  const found = await readHubPlane(client, plane);
  requireOwnNamespace(found);
  const { record } = found;
  const places = podPlaces(found, clock.now());
  if (!record || !places) throw memberNotPrepared(found, 'etcd');
  if (record.isDestroying) return;
  const work = (): ReturnType<EtcdAsking['shrink']> => asking.shrink(places, quotaOf(record));
  await recordWorkloadAttempt({ client, clock, plane, kind: 'space' }, () =>
    shrinkOrReject(found.where, work),
  );
}

function quotaOf(record: WorkloadRecord): number {
  return Number(recordedRun(record, 'etcd')?.flags[ETCD_QUOTA]);
}
