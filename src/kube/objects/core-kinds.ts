/** Kinds of Kubernetes that more than one part reads or writes. */
import type { Resource } from './object.ts';

export const CONFIG_MAPS = core('ConfigMap', true);
export const SECRETS = core('Secret', true);
export const NAMESPACES = core('Namespace', false);
export const NODES = core('Node', false);
export const PODS = core('Pod', true);
/** Kubelets and node-problem-detector write core/v1, and the API server serves all Events as such. */
export const NODE_EVENTS = core('Event', true);
export const SERVICE_ACCOUNTS = core('ServiceAccount', true);
export const ENDPOINT_SLICES: Resource = {
  group: 'discovery.k8s.io',
  version: 'v1',
  kind: 'EndpointSlice',
  plural: 'endpointslices',
  namespaced: true,
};
export const VOLUME_ATTACHMENTS: Resource = {
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'VolumeAttachment',
  plural: 'volumeattachments',
  namespaced: false,
};

function core(kind: string, namespaced: boolean): Resource {
  return { group: '', version: 'v1', kind, plural: `${kind.toLowerCase()}s`, namespaced };
}
