/** Carries out the plan. One machine that fails keeps no other. */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import { ANNOTATION_BOOTSTRAP, ANNOTATION_OWNER_HOLD } from '../../api/names.ts';
import type { Intent } from '../../kube/controller/intent.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { optional } from '../../kube/objects/optional.ts';
import { tryAll } from '../../kube/process/run-concurrently.ts';
import type { FollowedMachine } from './own-machine.ts';
import type { OwnerMarks } from './owner.ts';
import type { FollowAction } from './plan.ts';

/** Rejects with the first error when all is tried. */
export async function carryOutFollow(
  actions: readonly FollowAction[],
  owner: OwnerMarks,
  context: ReconcileContext,
): Promise<void> {
  await tryAll(actions, (action) => carryOut(action, owner, context));
}

async function carryOut(action: FollowAction, owner: OwnerMarks, context: ReconcileContext): Promise<void> {
  const { type, because } = action;
  const name = type === 'Delete' ? action.machine.metadata.name : action.desired.name;
  if (type === 'Delete') await context.delete(MACHINES, action.machine);
  else await context.apply(MACHINES, machineIntent(action.desired, owner));
  context.log.info('machine followed', { machine: name, step: type, because });
}

/** The deletion of our Machine ends neither pods nor an instance: nothing of it is drained or cleaned. */
function machineIntent(
  { name, object, zone, labels, hold, bootstrap }: FollowedMachine,
  { provider }: OwnerMarks,
): Intent<Machine> {
  const annotations = {
    ...optional(ANNOTATION_OWNER_HOLD, hold),
    ...optional(ANNOTATION_BOOTSTRAP, bootstrap),
  };
  return {
    metadata: {
      name,
      labels,
      ...optional('annotations', Object.keys(annotations).length === 0 ? undefined : annotations),
    },
    spec: {
      infra: { provider, config: { ...object } },
      ...optional('zone', zone),
    },
  };
}
