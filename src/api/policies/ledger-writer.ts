import type { KubeObject } from '../../kube/objects/object.ts';
import { POLICY_LEDGER_WRITER, PRINCIPAL_DEFENDER } from '../names.ts';
import { isPrincipal } from './cel.ts';
import { matchKubenode, policy } from './policy.ts';

export const ledgerWriter: readonly KubeObject[] = policy({
  name: POLICY_LEDGER_WRITER,
  description: 'Only the Defender may write the DefenderLedger, not even administrators.',
  match: [matchKubenode(['defenderledgers', 'defenderledgers/*'], ['CREATE', 'UPDATE', 'DELETE'])],
  validations: [
    {
      expression: isPrincipal(PRINCIPAL_DEFENDER),
      message: `only ${PRINCIPAL_DEFENDER} may write the DefenderLedger: use \`kubenode defender\``,
    },
  ],
});
