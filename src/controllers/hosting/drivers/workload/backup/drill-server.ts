/** Builds the API server of a drill: it runs beside the etcd on the copy, with keys that the pod has made, and only containers of the pod reach it. Pure. */
import { createApiServerCommand, LOOPBACK } from '../../../../../local/processes/commands.ts';
import { DRILL_FLAGS } from '../../etcd/drill/check.ts';
import { ETCD_PKI_FOLDER, withFlags } from '../objects/commands.ts';
import { CONTAINER_SECURITY, resourcesFor } from '../objects/pods.ts';
import { urlOf } from '../ports.ts';
import { MOUNTS, OPENED_URL, SERVING, sidecar } from '../snapshot/containers.ts';

/** Holds the image and flags of the API server of the control plane. */
export interface DrillServer {
  readonly image: string;
  readonly flags: Readonly<Record<string, string>>;
  readonly serviceCIDR: string;
}

const PORT = 6443;
/** Its keys are in memory and end with the pod. */
export const DRILL_VOLUME = { name: 'drill', emptyDir: { medium: 'Memory', sizeLimit: '16Mi' } };
export const DRILL_MOUNT = { name: 'drill', mountPath: '/var/lib/drill' };
const KEYS_FOLDER = `${DRILL_MOUNT.mountPath}/pki`;
/** As much as a small API server. */
const REQUESTS = { cpuMillis: 100, memoryMiB: 512 };

/** Returns how a container of kubenode makes the keys, or asks the API server with them. */
export const KEYS_ARG = `--serve-pki=${KEYS_FOLDER}`;
export const SERVER_ARGS = [KEYS_ARG, `--serve-url=${urlOf(LOOPBACK, PORT)}`];

/**
 * It has no probe that the next container waits for: one that does not become ready because it cannot read a value is what the drill finds. The
 * kubelet could not reach it either.
 */
export function drillServerContainer(
  cluster: string,
  { image, flags, serviceCIDR }: DrillServer,
): Readonly<Record<string, unknown>> {
  const { program, args } = createApiServerCommand((name) => name, {
    pkiFolder: KEYS_FOLDER,
    etcdPkiFolder: ETCD_PKI_FOLDER,
    port: PORT,
    bindAddress: LOOPBACK,
    etcdUrls: [OPENED_URL],
    etcdPrefix: `/${cluster}`,
    serviceRange: serviceCIDR,
  });
  return {
    ...sidecar(SERVING, { image, command: [program], args: withFlags(args, { ...flags, ...DRILL_FLAGS }) }),
    resources: resourcesFor(REQUESTS),
    // The file of kube-apiserver has this capability, and does not start in a container that may not have it.
    securityContext: { ...CONTAINER_SECURITY, capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } },
    volumeMounts: [DRILL_MOUNT, MOUNTS.client, MOUNTS.tmp],
  };
}
