/** Builds every object that a control plane has beside its workloads, and finds which are missing. Pure. */

import { isDeepStrictEqual } from 'node:util';
import { SECRETS } from '../../../../kube/objects/core-kinds.ts';
import type { KubeObject, Resource } from '../../../../kube/objects/object.ts';
import { addressesOf, internalUrl } from './access.ts';
import type { FoundPlane, PlaneObjects } from './hub.ts';
import { DISRUPTION_BUDGETS, disruptionBudgets } from './objects/namespace.ts';
import { NETWORK_POLICIES, planePolicies, planeServices, SERVICES } from './objects/network.ts';
import { keyFilesOf, memberFiles, secretObject } from './pki/secrets.ts';
import type { WorkloadRecord } from './record.ts';

export interface ExpectedObject {
  readonly resource: Resource;
  readonly object: KubeObject;
}

/** Limits come before what they limit. */
export function expectedBefore(record: WorkloadRecord): readonly ExpectedObject[] {
  return [
    ...planePolicies(record).map((object) => ({ resource: NETWORK_POLICIES, object })),
    ...disruptionBudgets(record).map((object) => ({ resource: DISRUPTION_BUDGETS, object })),
    ...planeServices(record).map((object) => ({ resource: SERVICES, object })),
  ];
}

/** Returns the Secrets that members mount. Empty before the Services have their addresses. */
export function expectedSecrets(found: FoundPlane, record: WorkloadRecord): readonly ExpectedObject[] {
  const addresses = addressesOf(found);
  if (!addresses) return [];
  const server = internalUrl(addresses, record.placement.exposure);
  return Object.entries(memberFiles(found.keys, server)).map(([name, files]) => ({
    resource: SECRETS,
    object: secretObject(record.cluster, { name, files }),
  }));
}

export function missingObjects(
  objects: PlaneObjects,
  expected: readonly ExpectedObject[],
): readonly ExpectedObject[] {
  return expected.filter(({ resource, object }) => {
    const there = placeOf(objects, resource).get(object.metadata.name);
    if (!there) return true;
    // A certificate that was renewed is given to the members that use it.
    return resource === SECRETS && !isDeepStrictEqual(keyFilesOf(there), keyFilesOf(object));
  });
}

function placeOf(objects: PlaneObjects, { kind }: Resource): ReadonlyMap<string, KubeObject> {
  switch (kind) {
    case 'Secret':
      return objects.keySecrets;
    case 'Service':
      return objects.services;
    case 'NetworkPolicy':
      return objects.policies;
    default:
      return objects.budgets;
  }
}
