/** The fields of a hosted control plane that hosting does not act on. */
import type { InactiveField } from './field.ts';

const NO_LIMITS = 'processes of this machine have no requests and no limits';
const LOOPBACK = 'the API server listens on loopback, on a port that is free';

const PARTS = ['apiServer', 'controllerManager', 'scheduler'];

export const HOSTED: readonly InactiveField[] = [
  { path: 'spec.hosted.driver', accepts: ['process'], because: 'control planes run as processes only' },
  {
    path: 'spec.hosted.replicas',
    accepts: [1, 2, 3],
    because: 'a control plane has three API servers at most',
  },
  { path: 'spec.hosted.etcd.storageGiB', accepts: [8], because: 'a folder has no size' },
  ...PARTS.flatMap((part): readonly InactiveField[] => [
    { path: `spec.hosted.${part}.cpuMillis`, because: NO_LIMITS },
    { path: `spec.hosted.${part}.memoryMiB`, because: NO_LIMITS },
  ]),
  { path: 'spec.hosted.exposure.type', accepts: ['ClusterIP'], because: LOOPBACK },
  { path: 'spec.hosted.exposure.host', because: LOOPBACK },
  { path: 'spec.hosted.exposure.port', accepts: [6443], because: LOOPBACK },
  { path: 'spec.hosted.pki.caRotation', because: 'certificate authorities are not replaced' },
  { path: 'spec.hosted.tunnel.enabled', accepts: [false], because: 'there is no tunnel to nodes' },
];
