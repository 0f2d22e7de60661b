/** What the Leases of agents tell, by our own clock. It remembers what it found first: only a change is a sign of life. */
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import { NAMESPACE_AGENTS } from '../../api/names.ts';
import { type KindRead, read } from '../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../kube/leader/record.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Heartbeat } from './observation.ts';

const RENEWED = 'renewed';

/** Only the first heartbeat after a silence triggers a reconcile. */
export const LEASE_READ: KindRead = read(LEASES, {
  keys: ({ metadata: { name, namespace } }) => (namespace === NAMESPACE_AGENTS ? [name] : []),
  changed: (before, after) => renewedAt(after) - renewedAt(before) > SILENT_MS,
  ages: { [RENEWED]: (lease) => textAt(lease, 'spec', 'renewTime') },
});

export interface Heartbeats {
  of(machine: string, context: ReconcileContext): Heartbeat | undefined;
  forget(machine: string): void;
}

export function createHeartbeats(): Heartbeats {
  const first = new Map<string, string>();
  return {
    of: (machine, context) => {
      const key = `${NAMESPACE_AGENTS}/${machine}`;
      const lease = context.view(LEASES).get(key);
      const renewed = textAt(lease, 'spec', 'renewTime') ?? '';
      const found = first.get(machine) ?? renewed;
      first.set(machine, found);
      const ageMs = context.ageMs(LEASES, key, RENEWED);
      return lease && ageMs !== undefined ? { ageMs, hasChanged: renewed !== found } : undefined;
    },
    forget: (machine) => void first.delete(machine),
  };
}

function renewedAt(lease: KubeObject): number {
  return Date.parse(textAt(lease, 'spec', 'renewTime') ?? '') || 0;
}
