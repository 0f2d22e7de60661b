/** The health of what a commit put into a cluster, by what is seen of it now. */

import { idOf } from '../../kube/objects/object-id.ts';
import type { Live } from '../apply/ports.ts';
import type { RenderedUnit } from '../rendered.ts';
import { type Settlement, settlementOf } from './health.ts';

export function healthOf(units: readonly RenderedUnit[], live: Live): Settlement {
  const applied = units.flatMap(({ objects }) =>
    objects.map(({ object }) => {
      const { apiVersion, kind, metadata } = object;
      const seen = live.view(idOf(object));
      // The store holds the answer to our own write, or something newer: its generation is the one to wait for.
      const generation = typeof seen === 'object' ? seen.metadata.generation : undefined;
      return {
        apiVersion,
        kind,
        name: metadata.name,
        ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
        ...(generation === undefined ? {} : { generation }),
        seen,
      };
    }),
  );
  return settlementOf(applied, live.stale());
}
