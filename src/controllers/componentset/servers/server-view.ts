/** The view of the EndpointSlice in which the API servers publish their addresses. */
import { NAMESPACE_OF_API_SERVERS, SLICE_OF_API_SERVERS } from '../../../api/names.ts';
import { staleReason } from '../../../kube/cache/freshness.ts';
import { createView, type View, type ViewOptions } from '../../../kube/cache/view.ts';
import { ENDPOINT_SLICES } from '../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { serverUrls } from './endpoints.ts';

/** The part of the view that is used. */
export interface PublishedServers {
  /** Returns the URLs of the API servers; empty where the control plane publishes none. */
  urls(): readonly string[];
  /** Returns why the URLs are not known now. Undefined: they are. */
  staleReason(): string | undefined;
}

export function createServerView(options: Omit<ViewOptions<KubeObject>, 'resource'>): View {
  return createView({
    ...options,
    resource: ENDPOINT_SLICES,
    namespace: NAMESPACE_OF_API_SERVERS,
    // Its name: the right to read is for this one only.
    fieldSelector: `metadata.name=${SLICE_OF_API_SERVERS}`,
  });
}

export function publishedServers({ store, reflector }: Pick<View, 'store' | 'reflector'>): PublishedServers {
  return {
    urls: () => serverUrls(store.list()),
    staleReason: () => staleReason(reflector.freshness(), ENDPOINT_SLICES.kind),
  };
}
