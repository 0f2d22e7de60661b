/** Names the keys of a control plane that are made once: those of the CAs, and the one that signs the tokens of ServiceAccounts. */
export const PLANE_KEYS = ['etcd-ca', 'ca', 'front-proxy-ca', 'service-accounts'] as const;
export type KeyName = (typeof PLANE_KEYS)[number];
