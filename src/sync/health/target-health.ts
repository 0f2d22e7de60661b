/** The health of everything that a commit put into one cluster, from what is observed of it now. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectIdOf } from '../../kube/objects/object-id.ts';
import { optional } from '../../kube/objects/optional.ts';
import type { RenderedUnit } from '../rendered.ts';
import { type Settlement, settlementOf } from './health.ts';

export interface ObservedObjects {
  readonly observe: (id: ObjectId) => KubeObject | 'absent' | 'unknown';
  /** Why an object is unknown. */
  readonly unknownReason: (id: ObjectId) => string | undefined;
  /** Why nothing that was observed can be trusted now. */
  readonly staleReason: string | undefined;
}

export function targetHealth(
  units: readonly RenderedUnit[],
  { observe, unknownReason, staleReason }: ObservedObjects,
): Settlement {
  const applied = units.flatMap(({ objects }) =>
    objects.map(({ object }) => {
      const { apiVersion, kind, metadata } = object;
      const id = objectIdOf(object);
      const observed = observe(id);
      // The cache holds the answer to our own write, or something newer: its generation is the one to wait for.
      const generation = typeof observed === 'object' ? observed.metadata.generation : undefined;
      return {
        apiVersion,
        kind,
        name: metadata.name,
        ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
        ...(generation === undefined ? {} : { generation }),
        observed,
        ...optional('unknownReason', observed === 'unknown' ? unknownReason(id) : undefined),
      };
    }),
  );
  return settlementOf(applied, staleReason);
}
