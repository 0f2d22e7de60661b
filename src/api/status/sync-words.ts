/** Defines the texts that sync writes into a status and that readers of it recognize. */

/** The reason when an object that git removed is being deleted, and only finalizers of others keep it: no commit waits for it. */
export const FOREIGN_FINALIZER = 'ForeignFinalizer';

/** Returns what happened to a cluster whose Pipeline was deleted, and what to do. */
export function deletedPipelineMessage(pipeline: string): string {
  return `Pipeline ${pipeline} was deleted: this cluster is not synced any more, and its objects stay as they are. To sync it again, run: kubenode sync --from REPOSITORY`;
}
