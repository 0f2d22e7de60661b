/** The addresses of the dashboards: they link to each other, and people keep them as bookmarks. */
export const UIDS = {
  fleet: 'kubenode-fleet',
  cluster: 'kubenode-cluster',
  rollouts: 'kubenode-rollouts',
  repairs: 'kubenode-repairs',
  sync: 'kubenode-sync',
  agents: 'kubenode-agents',
  nodes: 'kubenode-nodes',
} as const;
