/** The ports of the members inside their pods. */
import { roleOf, type WorkloadMember, type WorkloadRole } from './names.ts';

export const ETCD_PORT = 2379;
/** The members of an etcd that has several reach each other here. */
export const ETCD_PEER_PORT = 2380;
/** Health and metrics without a certificate: the policies of the namespace let only the kubelet of the node reach it. */
export const ETCD_HEALTH_PORT = 2381;
const CONTROLLER_MANAGER_PORT = 10_257;
const SCHEDULER_PORT = 10_259;
export const CONTROLLERS_PORT = 8080;

/** `apiServer` is the port that spec.hosted.exposure chooses. */
export function memberPort(member: WorkloadMember, apiServer: number): number {
  const role = roleOf(member);
  return role === 'kube-apiserver' ? apiServer : PORTS[role];
}

const PORTS: Readonly<Record<Exclude<WorkloadRole, 'kube-apiserver'>, number>> = {
  etcd: ETCD_PORT,
  'kube-controller-manager': CONTROLLER_MANAGER_PORT,
  'kube-scheduler': SCHEDULER_PORT,
  'kubenode-controllers': CONTROLLERS_PORT,
};

/** Returns the URL of a host. An address of IPv6 has brackets in it. */
export function urlOf(host: string, port: number): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
