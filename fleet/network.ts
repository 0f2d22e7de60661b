/** Addresses that several parts of a cluster have to agree on. */

/** The Service of CoreDNS, and what kubelets name to pods as their server. It is in the range of Services of the API server. */
export const CLUSTER_DNS = '10.96.0.10';
