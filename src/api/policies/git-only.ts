import type { KubeObject } from '../../kube/objects/object.ts';
import { ANNOTATION_BREAK_GLASS, GROUP, KILL_SWITCH, POLICY_GIT_ONLY, PRINCIPAL_SYNC } from '../names.ts';
import { VERB_BREAK_GLASS } from '../roles/people.ts';
import { annotation, isPrincipal, text } from './cel.ts';
import { ours, policy, type Validation } from './policy.ts';
import { CONFIRMED } from './protected-delete.ts';

const MAX_HOURS = 4;
const DELETES = "request.operation == 'DELETE'";
const AUTHORIZED = `authorizer.group(${text(GROUP)}).resource(request.resource.resource).check(${text(VERB_BREAK_GLASS)}).allowed()`;
/** `<until>; <who>; <why>` */
const FORM = "'^[^;]+; *[^; ][^;]*; *[^ ].*$'";

/**
 * CEL has no clock, but the server dates the managedFields of each write before it asks us. Entries that were
 * not there before are of this request, and theirs is the time now. Entries forged into the request only add
 * moments that must be within the limit as well; a write that leaves no new entry is refused.
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
      `only ${PRINCIPAL_SYNC} may write this: change it in git. In an emergency ` +
      `set the annotation ${ANNOTATION_BREAK_GLASS}: "<until>; <who>; <why>"`,
  },
  {
    expression: `${DELETES} || variables.glass == '' || variables.glass.matches(${FORM})`,
    message: `${ANNOTATION_BREAK_GLASS} must read "<until, RFC 3339>; <who>; <why>"`,
  },
  {
    expression: `${DELETES} || variables.glass == '' || (${WITHIN})`,
    message: `${ANNOTATION_BREAK_GLASS} must end later than now, and at most ${MAX_HOURS} hours from now`,
  },
];

const deleted: Validation = {
  expression: `!(${DELETES}) || (${CONFIRMED})`,
  message:
    `only ${PRINCIPAL_SYNC} may delete this: remove it from git. In an emergency set the annotation ` +
    'kubenode.dev/confirm-delete to its UID first',
};

const authorized: Validation = {
  expression: AUTHORIZED,
  message: `only who has the verb ${VERB_BREAK_GLASS} may override git, as ClusterRole kubenode-admin does`,
};

/** Metadata is no spec: labels, annotations and finalizers stay everybody's who has the right. */
export const gitOnly: readonly KubeObject[] = policy({
  name: POLICY_GIT_ONLY,
  description: 'Rules and limits come from git: only sync writes NodeRemedier and DefenderPolicy.',
  match: [ours(['noderemediers', 'defenderpolicies'], ['CREATE', 'UPDATE', 'DELETE'])],
  conditions: {
    'not-sync': `!(${isPrincipal(PRINCIPAL_SYNC)})`,
    'not-the-kill-switch': `!(request.resource.resource == 'defenderpolicies' && (${DELETES} ? oldObject : object).metadata.name == ${text(KILL_SWITCH)})`,
    'not-metadata-only': "request.operation != 'UPDATE' || object.spec != oldObject.spec",
  },
  variables: {
    glass: `${DELETES} ? '' : ${annotation('object', ANNOTATION_BREAK_GLASS)}`,
    until: "timestamp(variables.glass.split(';')[0].trim())",
    now: NEW_ENTRIES,
  },
  validations: [...written, deleted, authorized],
});
