/** Kinds of Kubernetes that more than one part reads or writes. */
import type { Resource } from './object.ts';

export const CONFIG_MAPS = core('ConfigMap', true);
export const SECRETS = core('Secret', true);
export const NAMESPACES = core('Namespace', false);
export const NODES = core('Node', false);
export const PODS = core('Pod', true);
function core(kind: string, namespaced: boolean): Resource {
  return { group: '', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced };
}
