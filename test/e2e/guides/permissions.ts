/** docs/guides/permissions.md: what a person may grant, annotate, confirm and block. */

import { type Guide, machineOf } from './guide.ts';

export const permissions: Guide = {
  path: 'docs/guides/permissions.md',
  async before(reader) {
    await reader.run('export KUBECONFIG=$(kubenode local kubeconfig pre --path)');
    await reader.run('mkdir -p ../secrets && cp $KUBECONFIG ../secrets/kubeconfig && cd ../secrets');
    await reader.run('echo token > token');
    await reader.run(machineOf('n17'));
    await reader.run(machineOf('n18'));
  },
  expectations: [
    {
      at: 'kubenode.dev/secret-use=git',
      after: (reader) =>
        reader.shows(
          'kubectl -n kubenode-system get secret fleet-repository -o yaml',
          /secret-use: git; git\.example\.com/,
        ),
    },
    {
      at: 'kubectl delete machine n17',
      before: (reader) => reader.shows('kubectl delete machine n18 --dry-run=server', /confirm-delete/),
      after: (reader) => reader.shows('kubectl get machines', /n18/),
    },
    {
      at: 'agent-blocked=CertificateLost',
      after: (reader) => reader.shows('kubectl get machine n18 -o yaml', /agent-blocked: CertificateLost/),
    },
  ],
};
