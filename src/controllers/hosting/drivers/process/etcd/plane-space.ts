/** Reports the database of the etcd of a control plane, and makes it smaller. Callers of the latter hold the lock of the control plane. */
import { join } from 'node:path';
import { optional } from '../../../../../kube/objects/optional.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import type { EtcdSpace } from '../../driver.ts';
import { readSpace, shrink, shrinkOrReject } from '../../etcd/space.ts';
import { ETCD_QUOTA } from '../../runs.ts';
import { readAttempt, recordAttempt, SPACE_FILE } from '../backup/attempt.ts';
import type { OpenPlane } from '../plane.ts';
import { notPrepared } from '../preparation/refusals.ts';
import { etcdEndpoints } from './endpoint.ts';

/** Undefined where etcd does not answer. */
export async function reportSpace(plane: OpenPlane): Promise<EtcdSpace | undefined> {
  const found = await spaceParts(plane);
  const sizes = found && (await readSpace(found.endpoints));
  if (!sizes) return undefined;
  const attempt = await readAttempt(join(plane.layout.root, SPACE_FILE));
  return { ...sizes, quotaBytes: found.quotaBytes, ...optional('attempt', attempt) };
}

export async function shrinkPlane(plane: OpenPlane, clock: Clock): Promise<void> {
  const parts = await spaceParts(plane);
  if (!parts) throw notPrepared(plane, 'etcd');
  const path = join(plane.layout.root, SPACE_FILE);
  await recordAttempt(path, clock.now(), () =>
    shrinkOrReject(plane.layout.etcd.dataFolder, () => shrink(parts.endpoints, parts.quotaBytes)),
  );
}

interface SpaceParts {
  /** One for each member. */
  readonly endpoints: readonly ProbeEndpoint[];
  readonly quotaBytes: number;
}

async function spaceParts(plane: OpenPlane): Promise<SpaceParts | undefined> {
  const { claim, state, runs } = plane;
  if (claim !== 'Own' || !state || !runs) return undefined;
  const endpoints = await etcdEndpoints(plane);
  if (endpoints.length === 0) return undefined;
  return { endpoints, quotaBytes: Number(runs.etcd.flags[ETCD_QUOTA]) };
}
