/** API paths, built from checked segments only, and labels of objects for messages. Pure. */
import type { KubeObject, ObjectName, Resource } from '../objects/object.ts';
import { KubeError } from './errors.ts';

export function apiVersionOf({ group, version }: Pick<Resource, 'group' | 'version'>): string {
  return group === '' ? version : `${group}/${version}`;
}

export function collectionPath(resource: Resource, namespace?: string): string {
  const { group, version, plural, namespaced } = resource;
  const inside = namespaced && namespace ? `/namespaces/${pathSegment(namespace)}` : '';
  return `${groupVersionPath(group, version)}${inside}/${pathSegment(plural)}`;
}

export function groupVersionPath(group: string, version: string): string {
  return group === ''
    ? `/api/${pathSegment(version)}`
    : `/apis/${pathSegment(group)}/${pathSegment(version)}`;
}

/** A name that no path can contain: no object can have it. */
export const INVALID_SEGMENT = 'InvalidPathSegment';

/** The API server allows neither of these in a name. With one of them a request would reach another path. */
function pathSegment(text: string): string {
  // oxlint-disable-next-line no-control-regex -- these are refused
  if (text === '' || text === '.' || text === '..' || /[/%\u0000-\u001f\u007f]/.test(text)) {
    throw invalidSegment(text);
  }
  try {
    return encodeURIComponent(text);
  } catch {
    // Half of a surrogate pair.
    throw invalidSegment(text);
  }
}

function invalidSegment(text: string): KubeError {
  const message = `${JSON.stringify(text.slice(0, 100))} cannot be part of a request path: choose another name`;
  return new KubeError('Invalid', message, { reason: INVALID_SEGMENT });
}

export function objectPath(
  resource: Resource,
  { name, namespace }: ObjectName,
  subresource?: string,
): string {
  const tail = subresource ? `/${subresource}` : '';
  return `${collectionPath(resource, namespace)}/${pathSegment(name)}${tail}`;
}

/** "Machine m-1", "ConfigMap kube-system/settings". */
export function labelOf({ kind }: { readonly kind: string }, { name, namespace }: ObjectName): string {
  // A review has no name.
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`.trimEnd();
}

/** "nodes", "machines.kubenode.dev in kube-system". */
export function collectionLabel({ plural, group }: Resource, namespace?: string): string {
  return `${plural}${group === '' ? '' : `.${group}`}${namespace ? ` in ${namespace}` : ''}`;
}

export function nameOf({ metadata }: KubeObject): ObjectName {
  const { name, namespace } = metadata;
  return namespace === undefined ? { name } : { name, namespace };
}
