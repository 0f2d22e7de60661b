/** docs/guides/install.md, without the image: what `kubenode install` writes into a hub and a cluster. */
import type { Guide } from './guide.ts';

const DEPLOYMENTS = 'kubectl --context prod-eu-1 -n kubenode-system get deployments';

export const install: Guide = {
  path: 'docs/guides/install.md',
  instead: { 'https://git.example.com/fleet.git': '../defender-fleet' },
  async before(reader) {
    await reader.run('kubenode local kubeconfig --merged > ../install.kubeconfig');
    await reader.run('export KUBECONFIG=$(realpath ../install.kubeconfig)');
    await reader.run('kubectl config rename-context prod prod-eu-1 && kubectl config use-context hub');
    await reader.run('kubectl create namespace monitoring');
    // Of another guide: a new hub has none.
    await reader.run('kubectl delete pipelines --all');
  },
  expectations: [
    {
      at: 'patch serviceaccount kubenode-controllers',
      after: (reader) =>
        reader.shows(
          'kubectl --context prod-eu-1 -n kubenode-system get serviceaccounts -o yaml',
          /imagePullSecrets:\n +- name: registry/,
        ),
    },
    {
      at: 'kubenode sync --context hub --from https://git.example.com/fleet.git',
      until: /sync started/,
      end: 'Ctrl-C',
      after: (reader) => reader.shows('kubectl get pipelines -o yaml', /repository: \S*defender-fleet/),
    },
    {
      at: '--context hub -n kubenode-system delete',
      before: (reader) => reader.shows(DEPLOYMENTS, /kubenode-controllers/),
    },
    {
      at: '--context prod-eu-1 -n kubenode-system delete',
      after: (reader) => reader.shows(`${DEPLOYMENTS} 2>&1`, /No resources found/),
    },
  ],
};
