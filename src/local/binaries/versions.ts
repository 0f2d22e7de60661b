/** The upstream versions of local clusters. kube-binary/go.mod has the same ones, guarded by a test. */
export const CONTROL_PLANE_VERSION = 'v1.36.3';
export const ETCD_VERSION = 'v3.6.8';
