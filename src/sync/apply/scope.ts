/** Whether an object names a namespace exactly when its kind has one. Known only with the server's discovery. Pure. */
import { apiVersionOf } from '../../kube/client/paths.ts';
import type { Resource } from '../../kube/objects/object.ts';
import type { ObjectId } from '../../kube/objects/object-id.ts';

/**
 * Why the object cannot exist as it is declared. The server would ignore the namespace of a cluster-scoped object and
 * create it under another identity than the one that the inventory lists.
 */
export function scopeMismatchReason(
  resource: Resource,
  { namespace }: Pick<ObjectId, 'namespace'>,
): string | undefined {
  const kind = `${resource.kind} of ${apiVersionOf(resource)}`;
  if (resource.namespaced && namespace === '') return `${kind} is namespaced: set metadata.namespace`;
  if (!resource.namespaced && namespace !== '') {
    return `${kind} is cluster-scoped: remove metadata.namespace`;
  }
  return undefined;
}
