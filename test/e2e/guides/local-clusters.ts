/** docs/guides/local-clusters.md: clusters that come and go, a Node without a kubelet, a component by hand, five machines. */
import type { Guide } from './guide.ts';

export const localClusters: Guide = {
  path: 'docs/guides/local-clusters.md',
  expectations: [
    { at: 'kubenode local status', prints: /prod/ },
    { at: 'kubectl --context test get crd', prints: /machines\.kubenode\.dev/ },
    { at: '--user kubenode-sync', prints: /kind: Config/ },
    { at: 'kubectl get nodes -o wide', prints: /^n1 +Ready /m },
    { at: 'kubenode agent status', prints: /kubelet[^]*ComponentsReady +True/ },
    {
      at: 'kill -9',
      after: (reader) => reader.shows('pgrep -f /tmp/n1/opt/kubenode/kubelet', /^\d+$/m),
    },
    { at: 'kubenode agent status', prints: /web-1\.0\.0[^]*ComponentsReady +True/ },
    {
      at: 'kubectl get machinesets,machines',
      prints:
        /machineset\S*five +\S+ +5 +5 [^]*(?:machine\S*five-\w+ +NotReady +False +True .* 0\.1\.0 [^]*){5}/,
    },
  ],
};
