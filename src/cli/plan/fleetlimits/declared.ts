/** Reads the FleetPolicies and Clusters that a commit declares, with the defaults that the API server fills in. Pure. */
import type { Cluster, FleetPolicy, FleetPolicySpec } from '../../../api/generated/types.ts';
import { cluster as clusterKind } from '../../../api/kinds/cluster.ts';
import { fleetPolicy } from '../../../api/kinds/fleetpolicy.ts';
import { validate } from '../../../api/validation/validate.ts';
import { API_VERSION } from '../../../api/version.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { HUB_TARGET, type Rendered } from '../../../sync/rendered.ts';

export function declaredFleetPolicies(rendered: Rendered | undefined): readonly FleetPolicy[] {
  return objectsOf(rendered, 'FleetPolicy').map((object) => ({
    ...object,
    apiVersion: API_VERSION,
    kind: 'FleetPolicy',
    // The declaration of the kind has no types: those of its spec are generated from it.
    spec: fleetPolicy.spec.parse(object['spec']) as FleetPolicySpec,
  }));
}

export function declaredClusterObjects(rendered: Rendered | undefined): readonly Cluster[] {
  return objectsOf(rendered, 'Cluster').map((object) => ({
    ...object,
    apiVersion: API_VERSION,
    kind: 'Cluster',
    spec: clusterKind.spec.parse(object['spec']) as Cluster['spec'],
  }));
}

/** Leaves out the objects that the schema refuses: they are shown as refusals. */
function objectsOf(rendered: Rendered | undefined, kind: string): readonly KubeObject[] {
  const hub = rendered?.targets.find(({ target }) => target === HUB_TARGET);
  const objects = hub?.units.flatMap((unit) => unit.objects.map(({ object }) => object)) ?? [];
  return objects.filter(
    (object) => object.kind === kind && object.apiVersion === API_VERSION && validate(object).length === 0,
  );
}
