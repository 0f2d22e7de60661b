/** The indexes that views of this kind have in the process of the controllers. */
import { REMEDY_OPERATION_JOBS } from '../../src/api/generated/resources.ts';
import { JOB_INDEXERS } from '../../src/api/machine/jobs.ts';
import type { ViewOptions } from '../../src/kube/cache/view.ts';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';

export function withIndexers({ kind }: Resource): Pick<ViewOptions<KubeObject>, 'indexers'> {
  if (kind !== REMEDY_OPERATION_JOBS.kind) return {};
  // The view of this kind holds jobs.
  return { indexers: JOB_INDEXERS as unknown as NonNullable<ViewOptions<KubeObject>['indexers']> };
}
