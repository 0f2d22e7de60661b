/**
 * The order in which the objects of a cluster are written: dependencies first. Objects within a step are independent, so a
 * failure stops only the objects that depend on it. Deletes use the reverse order.
 */
import { GROUP } from '../../api/names.ts';
import { byCode } from '../../kube/objects/digest.ts';
import { listAt, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { type ObjectId, objectIdOf, objectKey } from '../../kube/objects/object-id.ts';
import { isCrdId } from '../protected-kinds.ts';

/** A kind that no step lists belongs to the step `objects`. */
const STEPS: readonly (readonly [step: string, kinds: readonly string[]])[] = [
  ['namespaces', ['/Namespace']],
  ['crds', ['apiextensions.k8s.io/CustomResourceDefinition']],
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
  // After the Service and the workload behind them: until those run, they reject every request.
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

function stepIndexOf({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): number {
  return STEP_OF.get(`${group}/${kind}`) ?? OBJECTS;
}

export function isSameStep(
  a: Pick<ObjectId, 'group' | 'kind'>,
  b: Pick<ObjectId, 'group' | 'kind'>,
): boolean {
  return stepIndexOf(a) === stepIndexOf(b);
}

/** Total and deterministic: by step, then by key. */
export function sortByStep<T>(items: readonly T[], id: (item: T) => ObjectId): T[] {
  const keyed = items.map((item) => ({ item, step: stepIndexOf(id(item)), key: objectKey(id(item)) }));
  return keyed.toSorted((a, b) => a.step - b.step || byCode(a.key, b.key)).map(({ item }) => item);
}

/** Returns the same order in groups whose objects may be written concurrently. */
export function groupByStep<T>(items: readonly T[], id: (item: T) => ObjectId): T[][] {
  return [...Map.groupBy(sortByStep(items, id), (item) => stepIndexOf(id(item))).values()];
}

/** Finds the keys of the objects that an object depends on: its Namespace, the CRD of its kind, its components. */
export function dependenciesIn(objects: readonly KubeObject[]): (object: KubeObject) => string[] {
  const keys = new Set(objects.map((object) => objectKey(objectIdOf(object))));
  const crdOfKind = new Map(
    objects
      .filter((object) => isCrdId(objectIdOf(object)))
      .map((crd) => [definedKind(crd), objectKey(objectIdOf(crd))]),
  );
  return (object) => {
    const { group, kind, namespace } = objectIdOf(object);
    const namespaceKey = objectKey({ group: '', kind: 'Namespace', namespace: '', name: namespace });
    const crd = crdOfKind.get(`${group}/${kind}`);
    const needed = [...(namespace ? [namespaceKey] : []), ...(crd ? [crd] : []), ...componentsOf(object)];
    return needed.filter((key) => keys.has(key));
  };
}

/** Group and kind that the CRD defines. */
export function definedKind(crd: KubeObject): string {
  return `${textAt(crd, 'spec', 'group') ?? ''}/${textAt(crd, 'spec', 'names', 'kind') ?? ''}`;
}

/** A MachineComponentSet depends on the MachineComponents that it names. */
function componentsOf(object: KubeObject): string[] {
  if (object.kind !== 'MachineComponentSet' || !object.apiVersion.startsWith(`${GROUP}/`)) return [];
  return listAt(object, 'spec', 'components').flatMap((component) => {
    const name = textAt(component, 'componentRef');
    return name === undefined
      ? []
      : objectKey({ group: GROUP, kind: 'MachineComponent', namespace: '', name });
  });
}
