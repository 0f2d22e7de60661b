/** Which upstream versions we run. kube-binary/go.mod names the same ones; a test holds them together. */
export const KUBERNETES_VERSION = 'v1.36.3';
export const ETCD_VERSION = 'v3.6.8';
