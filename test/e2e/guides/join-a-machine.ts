/** docs/guides/join-a-machine.md in a sandbox: an agent joins by a token, and has a certificate. */
import { type Guide, machineOf } from './guide.ts';

export const joinAMachine: Guide = {
  path: 'docs/guides/join-a-machine.md',
  async before(reader) {
    await reader.run('mkdir -p ../join && cd ../join');
    await reader.run('export KUBECONFIG=$(kubenode local kubeconfig pre --path)');
    await reader.run('kubenode controllers 2> controllers.log &');
    await reader.run(machineOf('n1'));
  },
  expectations: [
    { at: 'kubenode agent run' },
    {
      at: 'kubenode agent status',
      prints: /machine n1, API server online/,
      async after(reader) {
        await reader.run('export KUBECONFIG=$(kubenode local kubeconfig pre --path)');
        await reader.shows(
          "kubectl get machine n1 -o jsonpath='{.status.agent.certificateNotAfter}'",
          /^20\d\d-/,
        );
        await reader.interruptAll();
        await reader.run('rm -r /tmp/n1');
      },
    },
  ],
};
