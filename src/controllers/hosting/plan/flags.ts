/**
 * Lists the flags that a Cluster may set for the members of its control plane. Pure. The author of a Cluster is not trusted with the machine
 * that hosts it: none of these flags names a file, a program, a URL or a port, and none changes who is authenticated, authorized or admitted.
 * A list of what is allowed also holds for flags of later versions of Kubernetes.
 */
export type FlagPart = 'apiServer' | 'controllerManager' | 'scheduler';

const EVERY_PART = ['feature-gates', 'profiling', 'v', 'vmodule'];

const ALLOWED: Readonly<Record<FlagPart, ReadonlySet<string>>> = {
  apiServer: new Set([
    ...EVERY_PART,
    'default-not-ready-toleration-seconds',
    'default-unreachable-toleration-seconds',
    'default-watch-cache-size',
    'delete-collection-workers',
    'event-ttl',
    'goaway-chance',
    'max-mutating-requests-inflight',
    'max-requests-inflight',
    'min-request-timeout',
    'request-timeout',
    'runtime-config',
    'service-node-port-range',
    'shutdown-delay-duration',
    'watch-cache-sizes',
  ]),
  controllerManager: new Set([
    ...EVERY_PART,
    'kube-api-burst',
    'kube-api-qps',
    'large-cluster-size-threshold',
    'min-resync-period',
    'namespace-sync-period',
    'node-cidr-mask-size',
    'node-eviction-rate',
    'node-monitor-grace-period',
    'node-monitor-period',
    'node-startup-grace-period',
    'resource-quota-sync-period',
    'secondary-node-eviction-rate',
    'terminated-pod-gc-threshold',
    'unhealthy-zone-threshold',
  ]),
  scheduler: new Set([...EVERY_PART, 'kube-api-burst', 'kube-api-qps']),
};

/** The number of workers of one controller: `concurrent-gc-syncs`. */
const WORKERS = /^concurrent-[a-z-]+-syncs$/;

export function isAllowedFlag(part: FlagPart, name: string): boolean {
  return ALLOWED[part].has(name) || (part === 'controllerManager' && WORKERS.test(name));
}
