/** The versions that sets may ask for, from the view of MachineComponents. */
import type { MachineComponent } from '../../../api/generated/types.ts';
import { ANNOTATION_YANKED } from '../../../api/names.ts';
import type { ReadableStore } from '../../../kube/controller/reconcile-context.ts';
import { conditionOf } from '../../../kube/objects/conditions.ts';
import { digestOf } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { FindComponent } from '../revision/resolve.ts';

/** A spec is immutable, and may hold large files. */
const digests = new WeakMap<MachineComponent['spec'], string>();

export function createFindVersion(components: Pick<ReadableStore<MachineComponent>, 'get'>): FindComponent {
  return (componentRef) => {
    const component = components.get(componentRef);
    if (!component || component.metadata.deletionTimestamp !== undefined) return undefined;
    const { spec, metadata, status } = component;
    const accepted = conditionOf(status?.conditions, 'Accepted');
    return {
      spec,
      digest: digestOfSpec(spec),
      ...optional('refused', accepted?.status === 'False' ? accepted.message : undefined),
      ...optional('yanked', metadata.annotations?.[ANNOTATION_YANKED]),
    };
  };
}

function digestOfSpec(spec: MachineComponent['spec']): string {
  const found = digests.get(spec) ?? digestOf(spec);
  digests.set(spec, found);
  return found;
}
