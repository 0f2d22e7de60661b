/** Describes what Cluster API needs to call the update extension of the controllers: a Service, a certificate and its registration. Pure. */
import { LABEL_MANAGED_BY, MANAGED_BY, NAMESPACE, UPDATE_EXTENSION } from '../api/names.ts';
import type { KubeObject, Resource } from '../kube/objects/object.ts';
import { CONTROLLERS, EXTENSION_PORT, podLabels } from './programs.ts';

/** The setting that the answer to a failed update follows. */
export const FAILURE_MODES = ['Wait', 'Fail'] as const;
export type FailureMode = (typeof FAILURE_MODES)[number];

/** The kind by which Cluster API knows its extensions, in the version that updates in place need. */
export const EXTENSION_CONFIGS: Resource = {
  group: 'runtime.cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'ExtensionConfig',
  plural: 'extensionconfigs',
  namespaced: false,
};

const SERVICE_PORT = 443;
const NAME = 'kubenode';
/** Cluster API copies `ca.crt` of this Secret into the ExtensionConfig, also when it changes. */
const INJECTED = { 'runtime.cluster.x-k8s.io/inject-ca-from-secret': `${NAMESPACE}/${UPDATE_EXTENSION}` };

/**
 * The Secret has no data: the controllers fill it, so that no private key is in a manifest, and they need no right to create Secrets. An
 * apply leaves what they wrote.
 */
export function extensionSecret(): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(UPDATE_EXTENSION, NAMESPACE),
    type: 'Opaque',
  };
}

/** Every replica answers, also those that only wait for the Lease. */
export function extensionService(): KubeObject {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadataOf(UPDATE_EXTENSION, NAMESPACE),
    spec: {
      selector: podLabels(CONTROLLERS),
      ports: [{ name: 'extension', port: SERVICE_PORT, targetPort: EXTENSION_PORT, protocol: 'TCP' }],
    },
  };
}

export function extensionConfig(onFailure: FailureMode): KubeObject {
  const { group, version, kind } = EXTENSION_CONFIGS;
  const service = { namespace: NAMESPACE, name: UPDATE_EXTENSION, port: SERVICE_PORT };
  return {
    apiVersion: `${group}/${version}`,
    kind,
    metadata: { ...metadataOf(NAME), annotations: INJECTED },
    spec: { clientConfig: { service }, settings: { onFailure } },
  };
}

function metadataOf(name: string, namespace?: string): KubeObject['metadata'] {
  return {
    name,
    ...(namespace === undefined ? {} : { namespace }),
    labels: { 'app.kubernetes.io/name': 'kubenode', [LABEL_MANAGED_BY]: MANAGED_BY },
  };
}
