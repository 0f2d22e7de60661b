/** Removes what a Machine had: its agent and components from a host that was imported, and its instance from the provider. */
import type { Machine } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { isDeletionOverdue } from '../deletion.ts';
import type { Imports } from '../import/execute/execute.ts';
import type { Instances } from '../instance/execute.ts';
import { isPooled } from '../instance/pooled.ts';
import type { RemovalWait } from '../instance/removal.ts';

export interface HostRemoval {
  readonly imports: Pick<Imports, 'release'>;
  readonly instances: Pick<Instances, 'withHost' | 'remove' | 'abandon'>;
}

/** Returns undefined when nothing more is done for the host. */
export async function removeHost(
  machine: Machine,
  { imports, instances }: HostRemoval,
  context: ReconcileContext,
): Promise<RemovalWait | undefined> {
  const host = await instances.withHost(machine, context);
  if (!('metadata' in host)) return host;
  const released = imports.release(host, context);
  if (typeof released === 'object') return released;
  return isPooled(machine)
    ? await returnToPool(machine, { instances, isReleased: released === 'Released' }, context)
    : await instances.remove(machine, context);
}

interface PoolReturn {
  readonly instances: HostRemoval['instances'];
  readonly isReleased: boolean;
}

/** A host that keeps something is not given to another machine. */
async function returnToPool(
  machine: Machine,
  { instances, isReleased }: PoolReturn,
  context: ReconcileContext,
): Promise<RemovalWait | undefined> {
  const { cleanup } = machine.spec.deletion;
  if (!isReleased || cleanup === 'Orphan') return await instances.abandon(machine, context);
  const left = await instances.remove(machine, context);
  const isOverdue = isDeletionOverdue(machine, context.clock.now());
  return left && isOverdue ? await instances.abandon(machine, context) : left;
}
