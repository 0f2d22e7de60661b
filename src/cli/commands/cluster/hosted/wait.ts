/** Waits for the control plane of a Cluster, and shows what it waits for meanwhile. */
import { CLUSTERS } from '../../../../api/generated/resources.ts';
import type { Cluster } from '../../../../api/generated/types.ts';
import type { Client } from '../../../../kube/client/client.ts';
import { unlessMissing } from '../../../../kube/client/errors.ts';
import { CliError, EXIT } from '../../../errors.ts';
import type { Io } from '../../../io.ts';
import { withProgress } from '../../../progress.ts';
import { type PlaneView, planeView } from './plane-view.ts';

export interface PlaneWait {
  readonly client: Client;
  readonly name: string;
  /** Another Cluster of the same name has another one. */
  readonly uid: string;
  readonly seconds: number;
}

const POLL_MS = 1000;

/**
 * Resolves to the control plane as it was observed last: when `isOver` is true for it, or when the time is over. Resolves to undefined
 * when its Cluster does not exist any more.
 */
export async function waitForPlane(
  io: Io,
  { client, name, uid, seconds }: PlaneWait,
  isOver: (view: PlaneView) => boolean,
): Promise<PlaneView | undefined> {
  const endsMs = io.clock.monotonicMs() + seconds * 1000;
  return await withProgress(io, async (progress) => {
    for (;;) {
      // oxlint-disable-next-line no-await-in-loop -- one read after the other
      const cluster = await unlessMissing(client.get<Cluster>(CLUSTERS, { name }, { signal: io.signal }));
      const view = cluster?.metadata.uid === uid ? planeView(cluster) : undefined;
      if (!view || isOver(view) || io.clock.monotonicMs() >= endsMs) return view;
      progress.step(`${name} ${view.state}: ${view.message}`);
      // oxlint-disable-next-line no-await-in-loop -- the time between two reads
      await io.clock.sleep(POLL_MS, io.signal);
    }
  });
}

/** Tells whether waiting for it to become ready ends: it is ready, or cannot become so without a person. */
export function isSettled({ state }: PlaneView): boolean {
  return state === 'Ready' || state === 'Stalled' || state === 'Deleting';
}

export function deletedMeanwhile(name: string): CliError {
  return new CliError(`Cluster ${name} was deleted meanwhile`, {
    hint: `create it again: kubenode cluster create ${name}`,
    exitCode: EXIT.unhealthy,
  });
}
