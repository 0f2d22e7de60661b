/** When the agent of a machine last renewed its Lease, by our own clock. */
import { SILENT_MS } from '../../../api/machine/heartbeat.ts';
import { parseTime } from '../../../api/machine/node-state.ts';
import { NAMESPACE_AGENTS } from '../../../api/names.ts';
import { type KeysOf, type KindRead, read } from '../../../kube/controller/controller.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import { textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

const RENEWED = 'renewed';

/** Only the first heartbeat after a silence triggers a reconcile. */
export function readHeartbeats(keys: KeysOf): KindRead {
  return read(LEASES, {
    keys: (lease) => (lease.metadata.namespace === NAMESPACE_AGENTS ? keys(lease) : []),
    changed: (before, after) => renewedAt(after) - renewedAt(before) > SILENT_MS,
    ages: { [RENEWED]: (lease) => textAt(lease, 'spec', 'renewTime') },
  });
}

/** A Lease that was there when this process began counts from then. Undefined: there is none. */
export function heardAt(machine: string, context: ReconcileContext): Date | undefined {
  const ageMs = context.ageMs(LEASES, `${NAMESPACE_AGENTS}/${machine}`, RENEWED);
  return ageMs === undefined ? undefined : new Date(context.clock.now().getTime() - ageMs);
}

function renewedAt(lease: KubeObject): number {
  return parseTime(textAt(lease, 'spec', 'renewTime'))?.getTime() ?? 0;
}
