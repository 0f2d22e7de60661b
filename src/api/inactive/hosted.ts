/** The fields of a hosted control plane that hosting does not act on: some with each driver, some with one. */
import type { InactiveField } from './field.ts';

const NO_LIMITS = 'processes of this machine have no requests and no limits';
const LOOPBACK = 'the API server listens on loopback, on a port that is free';
const KEPT_AUTHORITIES = 'driver workload keeps its certificate authorities';

const PARTS = ['apiServer', 'controllerManager', 'scheduler'];

const DRIVER = 'spec.hosted.driver';
const PROCESS = { whenNotAt: [DRIVER, 'workload'] } as const;
const WORKLOAD = { whenAt: [DRIVER, 'workload'] } as const;

export const HOSTED: readonly InactiveField[] = [
  { path: 'spec.hosted.etcd.storageGiB', accepts: [8], because: 'a folder has no size', ...PROCESS },
  ...PARTS.flatMap((part): readonly InactiveField[] => [
    { path: `spec.hosted.${part}.cpuMillis`, because: NO_LIMITS, ...PROCESS },
    { path: `spec.hosted.${part}.memoryMiB`, because: NO_LIMITS, ...PROCESS },
  ]),
  { path: 'spec.hosted.exposure.type', accepts: ['ClusterIP'], because: LOOPBACK, ...PROCESS },
  { path: 'spec.hosted.exposure.host', because: LOOPBACK, ...PROCESS },
  { path: 'spec.hosted.exposure.port', accepts: [6443], because: LOOPBACK, ...PROCESS },
  { path: 'spec.hosted.pki.caRotation', because: KEPT_AUTHORITIES, ...WORKLOAD },
];
