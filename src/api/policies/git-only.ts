import type { KubeObject } from '../../kube/objects/object.ts';
import { ANNOTATION_BREAK_GLASS, GROUP, KILL_SWITCH, POLICY_GIT_ONLY, PRINCIPAL_SYNC } from '../names.ts';
import { VERB_BREAK_GLASS } from '../roles/people.ts';
import { annotation, celText, isPrincipal } from './cel.ts';
import { matchKubenode, policy, type Validation } from './policy.ts';
import { CONFIRMED } from './protected-delete.ts';

const MAX_HOURS = 4;
const DELETES = "request.operation == 'DELETE'";
const AUTHORIZED = `authorizer.group(${celText(GROUP)}).resource(request.resource.resource).check(${celText(VERB_BREAK_GLASS)}).allowed()`;
/** `<until>; <who>; <why>` */
const FORM = "'^[^;]+; *[^; ][^;]*; *[^ ].*$'";

/**
 * CEL has no clock, but the server sets the time in managedFields before it evaluates policies. Entries that were
 * not there before belong to this request, and their time is now. Forged entries in a request only add
 * times that must be within the limit as well. A write that adds no entry is denied.
 */
const NEW_ENTRIES =
  "object.metadata.managedFields.filter(m, has(m.time) && (request.operation == 'CREATE' || " +
  '!(has(oldObject.metadata.managedFields) && oldObject.metadata.managedFields.exists(o, o == m))))';

const WITHIN =
  `variables.now.size() > 0 && variables.now.all(m, variables.until > timestamp(m.time) && ` +
  `variables.until <= timestamp(m.time) + duration('${MAX_HOURS}h'))`;

const written: readonly Validation[] = [
  {
    expression: `${DELETES} || variables.glass != ''`,
    message:
      `only ${PRINCIPAL_SYNC} may write this object: change it in git. In an emergency ` +
      `set the annotation ${ANNOTATION_BREAK_GLASS}: "<until>; <who>; <why>"`,
  },
  {
    expression: `${DELETES} || variables.glass == '' || variables.glass.matches(${FORM})`,
    message: `${ANNOTATION_BREAK_GLASS} must have the form "<until, RFC 3339>; <who>; <why>"`,
  },
  {
    expression: `${DELETES} || variables.glass == '' || (${WITHIN})`,
    message: `${ANNOTATION_BREAK_GLASS} must end in the future, at most ${MAX_HOURS} hours from now`,
  },
];

const deleted: Validation = {
  expression: `!(${DELETES}) || (${CONFIRMED})`,
  message:
    `only ${PRINCIPAL_SYNC} may delete this object: remove it from git. In an emergency set the annotation ` +
    'kubenode.dev/confirm-delete to its UID first',
};

const authorized: Validation = {
  expression: AUTHORIZED,
  message: `overriding git requires the verb ${VERB_BREAK_GLASS}, which ClusterRole kubenode-admin has`,
};

const GUARDED = ['noderemediers', 'defenderpolicies', 'fleetpolicies', 'fleetallowances'];

/** Metadata is not restricted: anybody with the permission may change labels, annotations and finalizers. */
export const gitOnly: readonly KubeObject[] = policy({
  name: POLICY_GIT_ONLY,
  description:
    'Only sync may write NodeRemedier, DefenderPolicy, FleetPolicy and FleetAllowance: rules and limits come from git.',
  match: [matchKubenode(GUARDED, ['CREATE', 'UPDATE', 'DELETE'])],
  conditions: {
    'not-sync': `!(${isPrincipal(PRINCIPAL_SYNC)})`,
    'not-the-kill-switch': `!(request.resource.resource in ['defenderpolicies', 'fleetpolicies'] && (${DELETES} ? oldObject : object).metadata.name == ${celText(KILL_SWITCH)})`,
    'not-metadata-only': "request.operation != 'UPDATE' || object.spec != oldObject.spec",
  },
  variables: {
    glass: `${DELETES} ? '' : ${annotation('object', ANNOTATION_BREAK_GLASS)}`,
    until: "timestamp(variables.glass.split(';')[0].trim())",
    now: NEW_ENTRIES,
  },
  validations: [...written, deleted, authorized],
});
