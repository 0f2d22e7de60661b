import type { KubeObject } from '../../kube/objects/object.ts';
import { POLICY_GRANT_REQUIRED } from '../names.ts';
import { granted, ledgerParams } from './ledger.ts';
import { matchKubenode, policy } from './policy.ts';

const CREATES = "request.operation == 'CREATE'";
const RELEASES =
  'has(object.status) && has(object.status.release) && ' +
  '!(has(oldObject.status) && has(oldObject.status.release) && oldObject.status.release == object.status.release)';

/** Other writes of a job need no ledger, so that an agent can report and a job can settle without one. */
export const grantRequired: readonly KubeObject[] = policy({
  name: POLICY_GRANT_REQUIRED,
  description: 'A job, and the release of a step to an agent, need an unsettled grant in the ledger.',
  match: [
    matchKubenode(['remedyoperationjobs'], ['CREATE']),
    matchKubenode(['remedyoperationjobs/status'], ['UPDATE']),
  ],
  conditions: { 'creates-or-releases': `${CREATES} || (${RELEASES})` },
  params: ledgerParams,
  validations: [
    {
      expression: granted('object.spec.machine.name', 'object.spec.grant.id', 'object.spec.grant.fence'),
      message:
        "spec.grant must be the ledger's unsettled entry for this machine, by id and fence: ask the Defender first",
    },
    {
      expression: `${CREATES} || object.status.release.fence == object.spec.grant.fence`,
      message: 'status.release must carry the fence of the grant of this job',
    },
  ],
});
