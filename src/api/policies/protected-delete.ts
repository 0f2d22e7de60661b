import type { KubeObject } from '../../kube/objects/object.ts';
import type { FollowedProvider } from '../enums.ts';
import {
  ANNOTATION_CONFIRM_DELETE,
  FLEET_DEFAULT,
  POLICY_PROTECTED_DELETE,
  PRINCIPAL_CLUSTERAPI,
  PRINCIPAL_EXTERNAL,
  PRINCIPAL_HOSTING,
  PRINCIPAL_MACHINESET,
  PRINCIPAL_SYNC,
} from '../names.ts';
import { annotation, celText, isPrincipal } from './cel.ts';
import { matchKubenode, policy } from './policy.ts';

/** The annotation must hold the UID of the deleted object, so that a confirmation does not apply to its successor. */
export const CONFIRMED = `${annotation('oldObject', ANNOTATION_CONFIRM_DELETE)} == oldObject.metadata.uid`;

const PROTECTED =
  `(request.resource.resource != 'clusters' || !has(oldObject.spec.deletion) || !has(oldObject.spec.deletion.protection) || oldObject.spec.deletion.protection) && ` +
  `(request.resource.resource != 'defenderpolicies' || oldObject.metadata.name == ${celText(FLEET_DEFAULT)})`;

/** Such a Machine goes with the object of its owner, and nothing goes with it. Each account deletes those of its provider only. */
const FOLLOWED = `request.resource.resource == 'machines' && (${followedBy(PRINCIPAL_CLUSTERAPI, 'clusterapi')} || ${followedBy(PRINCIPAL_EXTERNAL, 'external')})`;

function followedBy(principal: string, provider: FollowedProvider): string {
  return `(${isPrincipal(principal)} && oldObject.spec.infra.provider == '${provider}')`;
}

export const protectedDelete: readonly KubeObject[] = policy({
  name: POLICY_PROTECTED_DELETE,
  description: 'Deleting an object on which nodes or clusters depend requires its UID in an annotation.',
  match: [matchKubenode(['clusters', 'machines', 'machinesets', 'defenderpolicies'], ['DELETE'])],
  conditions: {
    'not-a-trusted-principal': `!(${isPrincipal(PRINCIPAL_SYNC, PRINCIPAL_MACHINESET, PRINCIPAL_HOSTING)})`,
    'not-followed': `!(${FOLLOWED})`,
    'is-protected': PROTECTED,
  },
  validations: [
    {
      expression: CONFIRMED,
      message: `protected: set the annotation ${ANNOTATION_CONFIRM_DELETE} to the UID of the object, then delete it`,
      messageExpression: `'protected: to delete ' + oldObject.metadata.name + ', first set its annotation ${ANNOTATION_CONFIRM_DELETE} to its UID, ' + oldObject.metadata.uid`,
    },
  ],
});
