/** API paths, and labels of objects for messages. Pure. */
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';

export function apiVersionOf({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}

export function collectionPath(resource: Resource, namespace?: string): string {
  const { group, version, plural, namespaced } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const inside = namespaced && namespace ? `/namespaces/${encodeURIComponent(namespace)}` : '';
  return `${root}${inside}/${plural}`;
}

export function objectPath(
  resource: Resource,
  { name, namespace }: ObjectName,
  subresource?: string,
): string {
  const tail = subresource ? `/${subresource}` : '';
  return `${collectionPath(resource, namespace)}/${encodeURIComponent(name)}${tail}`;
}

/** "Machine m-1", "ConfigMap kube-system/settings". */
export function labelOf({ kind }: { readonly kind: string }, { name, namespace }: ObjectName): string {
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}

/** "nodes", "machines.kubenode.dev in kube-system". */
export function collectionLabel({ plural, group }: Resource, namespace?: string): string {
  return `${plural}${group === '' ? '' : `.${group}`}${namespace ? ` in ${namespace}` : ''}`;
}

export function nameOf({ metadata }: KubeObject): ObjectName {
  const { name, namespace } = metadata;
  return namespace === undefined ? { name } : { name, namespace };
}
