/**
 * In which order the objects of a cluster are written: what others need comes first. Within a step objects are
 * independent, so that one that fails takes only its dependents along. Deletes take the steps backwards.
 */
import { GROUP } from '../../api/names.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { isCrd } from '../protected-kinds.ts';

/** A kind that stands in no step belongs to the one called `objects`. */
const STEPS: readonly (readonly [step: string, kinds: readonly string[]])[] = [
  ['namespaces', ['/Namespace']],
  ['definitions', ['apiextensions.k8s.io/CustomResourceDefinition']],
  [
    'identities',
    ['/ServiceAccount', 'rbac.authorization.k8s.io/ClusterRole', 'rbac.authorization.k8s.io/Role'],
  ],
  ['bindings', ['rbac.authorization.k8s.io/ClusterRoleBinding', 'rbac.authorization.k8s.io/RoleBinding']],
  [
    'configuration',
    ['/ConfigMap', '/Secret', '/PersistentVolume', '/PersistentVolumeClaim', `${GROUP}/MachineComponent`],
  ],
  ['objects', []],
  // After the Service and the workload that answer it, or it refuses everything until they are there.
  [
    'admission',
    [
      'admissionregistration.k8s.io/ValidatingWebhookConfiguration',
      'admissionregistration.k8s.io/MutatingWebhookConfiguration',
      'apiregistration.k8s.io/APIService',
    ],
  ],
];
const OBJECTS = STEPS.findIndex(([step]) => step === 'objects');
const STEP_OF = new Map(STEPS.flatMap(([, kinds], index) => kinds.map((kind) => [kind, index] as const)));

export function stepIndexOf({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): number {
  return STEP_OF.get(`${group}/${kind}`) ?? OBJECTS;
}

/** Total and deterministic: by step, then by key. */
export function sortByStep<T>(items: readonly T[], id: (item: T) => ObjectId): T[] {
  const keyed = items.map((item) => ({ item, step: stepIndexOf(id(item)), key: objectKey(id(item)) }));
  return keyed.toSorted((a, b) => a.step - b.step || byCode(a.key, b.key)).map(({ item }) => item);
}

/** The same, cut into groups that may be written side by side. */
export function groupByStep<T>(items: readonly T[], id: (item: T) => ObjectId): T[][] {
  const steps = new Map<number, T[]>();
  for (const item of sortByStep(items, id)) {
    const step = stepIndexOf(id(item));
    steps.set(step, [...(steps.get(step) ?? []), item]);
  }
  return [...steps.values()];
}

/** By key, the objects of the same commit that each one needs: its Namespace, the CRD of its kind, its components. */
export function dependencies(wanted: readonly KubeObject[]): (object: KubeObject) => string[] {
  const keys = new Set(wanted.map((object) => objectKey(objectIdOf(object))));
  const definedBy = new Map(
    wanted
      .filter((object) => isCrd(objectIdOf(object)))
      .map((crd) => [definedKind(crd), objectKey(objectIdOf(crd))]),
  );
  return (object) => {
    const { group, kind, namespace } = objectIdOf(object);
    const home = objectKey({ group: '', kind: 'Namespace', namespace: '', name: namespace });
    const definition = definedBy.get(`${group}/${kind}`);
    const needed = [
      ...(namespace ? [home] : []),
      ...(definition ? [definition] : []),
      ...componentsOf(object),
    ];
    return needed.filter((key) => keys.has(key));
  };
}

function definedKind(crd: KubeObject): string {
  return `${textAt(crd, 'spec', 'group') ?? ''}/${textAt(crd, 'spec', 'names', 'kind') ?? ''}`;
}

/** A MachineComponentSet after the MachineComponents that it names. */
function componentsOf(object: KubeObject): string[] {
  if (object.kind !== 'MachineComponentSet' || !object.apiVersion.startsWith(`${GROUP}/`)) return [];
  return listAt(object, 'spec', 'components').flatMap((component) => {
    const name = textAt(component, 'componentRef');
    return name === undefined
      ? []
      : objectKey({ group: GROUP, kind: 'MachineComponent', namespace: '', name });
  });
}
