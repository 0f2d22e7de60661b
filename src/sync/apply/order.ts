/**
 * In which order the objects of a cluster are written: what others need comes first. Within a step objects are
 * independent, so that one that fails takes only its dependents along. Deletes take the steps backwards.
 */
import { GROUP, NAMESPACE } from '../../api/names.ts';
import { listAt, textAt } from '../../kube/json.ts';
import type { KubeObject } from '../../kube/object.ts';
import { byCode } from '../digest.ts';
import { idOf, isCrd, isNamespace, keyOf, type ObjectId } from './identity.ts';

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

export function stepOf({ group, kind }: Pick<ObjectId, 'group' | 'kind'>): number {
  return STEP_OF.get(`${group}/${kind}`) ?? OBJECTS;
}

/** Total and deterministic: by step, then by key. */
export function inOrder<T>(items: readonly T[], id: (item: T) => ObjectId): T[] {
  const keyed = items.map((item) => ({ item, step: stepOf(id(item)), key: keyOf(id(item)) }));
  return keyed.toSorted((a, b) => a.step - b.step || byCode(a.key, b.key)).map(({ item }) => item);
}

/** The same, cut into groups that may be written side by side. */
export function inSteps<T>(items: readonly T[], id: (item: T) => ObjectId): T[][] {
  const steps = new Map<number, T[]>();
  for (const item of inOrder(items, id)) {
    const step = stepOf(id(item));
    steps.set(step, [...(steps.get(step) ?? []), item]);
  }
  return [...steps.values()];
}

/** The objects of the same commit that must be there before this one: its Namespace, and the CRD of its kind. */
export function dependenciesOf(object: KubeObject, wanted: ReadonlyMap<string, KubeObject>): string[] {
  const id = idOf(object);
  const found: string[] = [];
  const namespace = keyOf({ group: '', kind: 'Namespace', namespace: '', name: id.namespace });
  if (id.namespace !== '' && wanted.has(namespace)) found.push(namespace);
  for (const [key, other] of wanted) {
    if (isCrd(idOf(other)) && defines(other, id)) found.push(key);
  }
  return [...found, ...componentsOf(object).filter((key) => wanted.has(key))];
}

function defines(crd: KubeObject, { group, kind }: ObjectId): boolean {
  return textAt(crd, 'spec', 'group') === group && textAt(crd, 'spec', 'names', 'kind') === kind;
}

/** A MachineComponentSet after the MachineComponents that it names. */
function componentsOf(object: KubeObject): string[] {
  if (object.kind !== 'MachineComponentSet' || !object.apiVersion.startsWith(`${GROUP}/`)) return [];
  return listAt(object, 'spec', 'components').flatMap((component) => {
    const name = textAt(component, 'componentRef');
    return name === undefined ? [] : keyOf({ group: GROUP, kind: 'MachineComponent', namespace: '', name });
  });
}

/** Namespaces that sync needs itself, and so never deletes. */
export function isOwnNamespace(id: ObjectId): boolean {
  return isNamespace(id) && id.name === NAMESPACE;
}
