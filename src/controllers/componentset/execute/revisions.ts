/** Keeps the content of the revisions that a set may return to. */
import { NAMESPACE } from '../../../api/names.ts';
import { isKubeError } from '../../../kube/client/errors.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import {
  CONTROLLER_REVISIONS,
  outdatedRevisions,
  storedName,
  storedRevision,
} from '../revision/stored-revisions.ts';
import type { RolloutInput, RolloutProgress } from '../rollout/input.ts';

/** Before a rollout of it begins, so that a completed revision is always known. */
export async function storeRevisions(
  { set, desired }: RolloutInput,
  progress: RolloutProgress,
  context: ReconcileContext,
): Promise<void> {
  const view = context.view(CONTROLLER_REVISIONS);
  const name = 'revision' in desired ? desired.revision.name : undefined;
  const updateRevisions = [name, progress.updateRevision];
  for (const each of outdatedRevisions(set, { ...progress, updateRevisions }, view.list())) {
    // oxlint-disable-next-line no-await-in-loop -- rarely more than one
    await context.delete(CONTROLLER_REVISIONS, each);
  }
  if (!('revision' in desired)) return;
  if (view.get({ namespace: NAMESPACE, name: storedName(set, desired.revision.name) })) return;
  try {
    await context.create(
      CONTROLLER_REVISIONS,
      storedRevision(set, desired.revision, progress.history.length + 1),
    );
  } catch (error) {
    if (!isKubeError(error, 'AlreadyExists')) throw error;
  }
}
