/** Lists what `kubenode install --cluster-api` adds: the kinds of remediation, and the roles of both managers. */
import type { KubeObject } from '../../kube/objects/object.ts';
import { clusterApiRoles } from '../roles/all.ts';
import { clusterApiCrds } from './crds.ts';

/** Kinds first: an installation writes the objects in this order. */
export function clusterApiObjects(hasExtension = false): readonly KubeObject[] {
  return [...clusterApiCrds(), ...clusterApiRoles(hasExtension)];
}
