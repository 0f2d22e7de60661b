/** The machines of the cluster: hosts that exist. */
export { declareHosts as declareMachines } from './hosts.ts';
