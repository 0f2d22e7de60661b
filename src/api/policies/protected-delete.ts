import type { KubeObject } from '../../kube/objects/object.ts';
import {
  ANNOTATION_CONFIRM_DELETE,
  FLEET_DEFAULT,
  POLICY_PROTECTED_DELETE,
  PRINCIPAL_HOSTING,
  PRINCIPAL_MACHINESET,
  PRINCIPAL_REMEDYJOB,
  PRINCIPAL_SYNC,
} from '../names.ts';
import { annotation, isPrincipal, text } from './cel.ts';
import { ours, policy } from './policy.ts';

/** The UID in the annotation of the object that goes: a word said for one object is worth nothing for its successor. */
export const CONFIRMED = `${annotation('oldObject', ANNOTATION_CONFIRM_DELETE)} == oldObject.metadata.uid`;

const PROTECTED =
  `(request.resource.resource != 'clusters' || !has(oldObject.spec.deletion) || !has(oldObject.spec.deletion.protection) || oldObject.spec.deletion.protection) && ` +
  `(request.resource.resource != 'defenderpolicies' || oldObject.metadata.name == ${text(FLEET_DEFAULT)})`;

export const protectedDelete: readonly KubeObject[] = policy({
  name: POLICY_PROTECTED_DELETE,
  description: 'What takes nodes or clusters with it is deleted only by a person who names its UID.',
  match: [ours(['clusters', 'machines', 'machinesets', 'defenderpolicies'], ['DELETE'])],
  conditions: {
    'not-one-of-ours': `!(${isPrincipal(PRINCIPAL_SYNC, PRINCIPAL_MACHINESET, PRINCIPAL_REMEDYJOB, PRINCIPAL_HOSTING)})`,
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
