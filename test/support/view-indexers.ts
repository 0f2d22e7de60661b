/** The indexes that views of this kind have in the process of the controllers. */

import { MACHINE_INDEXERS } from '../../src/api/diagnosis/silent-machines.ts';
import { MACHINES, MAINTENANCE_EVENTS, REMEDY_OPERATION_JOBS } from '../../src/api/generated/resources.ts';
import { CERTIFICATE_REQUEST_INDEXERS } from '../../src/api/machine/certificate-requests.ts';
import { JOB_INDEXERS } from '../../src/api/machine/jobs.ts';
import { MAINTENANCE_EVENT_INDEXERS } from '../../src/api/machine/maintenance-events.ts';
import { CERTIFICATE_REQUESTS } from '../../src/kube/auth/certificate-requests.ts';
import type { ViewOptions } from '../../src/kube/cache/view.ts';
import type { KubeObject, Resource } from '../../src/kube/objects/object.ts';

export function withIndexers({ kind }: Resource): Pick<ViewOptions<KubeObject>, 'indexers'> {
  const indexers = INDEXERS[kind];
  // The view of each kind holds its objects.
  return indexers
    ? { indexers: indexers as unknown as NonNullable<ViewOptions<KubeObject>['indexers']> }
    : {};
}

const INDEXERS: Readonly<Record<string, object>> = {
  [MACHINES.kind]: MACHINE_INDEXERS,
  [REMEDY_OPERATION_JOBS.kind]: JOB_INDEXERS,
  [CERTIFICATE_REQUESTS.kind]: CERTIFICATE_REQUEST_INDEXERS,
  [MAINTENANCE_EVENTS.kind]: MAINTENANCE_EVENT_INDEXERS,
};
