/** Decides which objects an add-on may not have: those of kubenode itself, and those that sync brings. Pure. */
import { GROUP, NAMESPACE, NAMESPACE_AGENTS, NAMESPACE_AUDIT, NAMESPACE_HOSTS } from '../../../api/names.ts';
import { listAt, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { groupOf, objectIdOf } from '../../../kube/objects/object-id.ts';

const NAMESPACES: ReadonlySet<string> = new Set([
  NAMESPACE,
  NAMESPACE_AGENTS,
  NAMESPACE_HOSTS,
  NAMESPACE_AUDIT,
]);
/** Roles and policies of later versions have this prefix, too. */
const OWN_PREFIX = 'kubenode-';
const OWN_GROUPS = ['rbac.authorization.k8s.io', 'admissionregistration.k8s.io'];

/** Returns why an add-on may neither write nor delete the object. */
export function protectedReason(object: KubeObject): string | undefined {
  const id = objectIdOf(object);
  if (id.group === GROUP || groupOfCrd(object) === GROUP) {
    return `kinds of ${GROUP} and their objects are not part of an add-on: declare them in git`;
  }
  if (isInNamespaceOfKubenode(object)) return 'the namespaces of kubenode are not part of an add-on';
  if (isOwn(object)) return 'it belongs to kubenode';
  return bindsOwnAccount(object) ? 'an add-on gives no rights to accounts of kubenode' : undefined;
}

function groupOfCrd({ kind, apiVersion, metadata }: KubeObject): string | undefined {
  if (kind !== 'CustomResourceDefinition' || groupOf(apiVersion) !== 'apiextensions.k8s.io') return undefined;
  return metadata.name.endsWith(`.${GROUP}`) ? GROUP : undefined;
}

function isInNamespaceOfKubenode({ apiVersion, kind, metadata }: KubeObject): boolean {
  const isNamespace = kind === 'Namespace' && apiVersion === 'v1';
  return NAMESPACES.has(isNamespace ? metadata.name : (metadata.namespace ?? ''));
}

function isOwn(object: KubeObject): boolean {
  const { group, name } = objectIdOf(object);
  return OWN_GROUPS.includes(group) && name.startsWith(OWN_PREFIX);
}

function bindsOwnAccount(object: KubeObject): boolean {
  if (groupOf(object.apiVersion) !== OWN_GROUPS[0]) return false;
  return listAt(object, 'subjects').some(
    (subject) =>
      NAMESPACES.has(textAt(subject, 'namespace') ?? '') ||
      /(^|:)kubenode([:-]|$)/.test(textAt(subject, 'name') ?? ''),
  );
}
