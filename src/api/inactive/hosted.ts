/** The fields of a hosted control plane that hosting does not act on: some with each driver, some with one. */
import type { InactiveField } from './field.ts';

const NO_LIMITS = 'processes of this machine have no requests and no limits';

const PARTS = ['apiServer', 'controllerManager', 'scheduler'];

const DRIVER = 'spec.hosted.driver';
const PROCESS = { whenNotAt: [DRIVER, 'workload'] } as const;

export const HOSTED: readonly InactiveField[] = [
  { path: 'spec.hosted.etcd.storageGiB', accepts: [8], because: 'a folder has no size', ...PROCESS },
  ...PARTS.flatMap((part): readonly InactiveField[] => [
    { path: `spec.hosted.${part}.cpuMillis`, because: NO_LIMITS, ...PROCESS },
    { path: `spec.hosted.${part}.memoryMiB`, because: NO_LIMITS, ...PROCESS },
  ]),
  {
    path: 'spec.hosted.exposure.type',
    accepts: ['ClusterIP'],
    because: 'processes have no Service, and with exposure.host they listen on the machine of hosting itself',
    ...PROCESS,
  },
  {
    path: 'spec.hosted.exposure.port',
    accepts: [6443],
    because: 'without exposure.host the API server listens on loopback, on a port that is free',
    unless: ['spec.hosted.exposure.host'],
    ...PROCESS,
  },
];
