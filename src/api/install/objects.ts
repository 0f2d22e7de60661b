/** The API resources of the objects of an installation. */
import type { KubeObject, Resource } from '../../kube/objects/object.ts';
import type { CustomResourceDefinition } from './plan.ts';

export function isCrd(object: KubeObject): object is CustomResourceDefinition {
  return object.kind === 'CustomResourceDefinition';
}

export function isPolicy(object: KubeObject): boolean {
  return object.kind === 'ValidatingAdmissionPolicy';
}

/** Without discovery: every API server has these kinds, except for two of our own. Their plurals are regular. */
export function resourceOf({ apiVersion, kind, metadata }: KubeObject): Resource {
  const [group = '', version = ''] = apiVersion.includes('/') ? apiVersion.split('/') : ['', apiVersion];
  const plural = `${kind.toLowerCase()}s`.replace(/ys$/, 'ies');
  return { group, version, kind, plural, namespaced: metadata.namespace !== undefined };
}
