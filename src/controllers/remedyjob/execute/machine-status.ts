/** Writes what the manager of jobs owns in the status of a Machine. */
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { MachineJobReport } from '../plan/machine-report.ts';

/** Writes to the Machine as it was judged: a conflict with another job of the machine, or with another change, is judged again. */
export async function applyMachineStatus(
  { metadata: { name, uid, resourceVersion } }: Machine,
  status: MachineJobReport,
  context: Pick<ReconcileContext, 'applyStatus'>,
): Promise<void> {
  const metadata = { name, ...optional('uid', uid), ...optional('resourceVersion', resourceVersion) };
  await context.applyStatus(MACHINES, { metadata, status });
}
