/** The ports of the members inside their pods. */
import type { WorkloadMember } from './names.ts';

export const ETCD_PORT = 2379;
/** Health and metrics without a certificate: the policies of the namespace let only the kubelet of the node reach it. */
export const ETCD_HEALTH_PORT = 2381;
const CONTROLLER_MANAGER_PORT = 10_257;
const SCHEDULER_PORT = 10_259;
export const CONTROLLERS_PORT = 8080;

/** `apiServer` is the port that spec.hosted.exposure chooses. */
export function memberPort(member: WorkloadMember, apiServer: number): number {
  return member === 'kube-apiserver' ? apiServer : PORTS[member];
}

const PORTS: Readonly<Record<Exclude<WorkloadMember, 'kube-apiserver'>, number>> = {
  etcd: ETCD_PORT,
  'kube-controller-manager': CONTROLLER_MANAGER_PORT,
  'kube-scheduler': SCHEDULER_PORT,
  'kubenode-controllers': CONTROLLERS_PORT,
};
