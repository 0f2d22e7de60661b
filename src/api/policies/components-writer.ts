import type { KubeObject } from '../../kube/objects/object.ts';
import { POLICY_COMPONENTS_WRITER, PRINCIPAL_COMPONENTSET } from '../names.ts';
import { isPrincipal } from './cel.ts';
import { granted, ledgerParams } from './ledger.ts';
import { matchKubenode, policy } from './policy.ts';

const NEW = componentsOf('object');
// `oldObject` is null at creation.
const OLD = `(request.operation == 'CREATE' ? [] : ${componentsOf('oldObject')})`;

/**
 * Anybody with the permission may add and remove entries; only the controller may set `assignment` and `grant`. The policy
 * evaluates only requests that set or change one of these, so that Machines can be written before a ledger exists.
 */
export const componentsWriter: readonly KubeObject[] = policy({
  name: POLICY_COMPONENTS_WRITER,
  description: 'Only the component set controller may set assignment and grant in Machine.spec.components.',
  match: [matchKubenode(['machines'], ['CREATE', 'UPDATE'])],
  conditions: {
    'sets-assignment-or-grant': `${sets('grant')} || (${sets('assignment')} && !(${isPrincipal(PRINCIPAL_COMPONENTSET)}))`,
  },
  params: ledgerParams,
  variables: { components: NEW, oldComponents: OLD },
  validations: [
    {
      expression: isPrincipal(PRINCIPAL_COMPONENTSET),
      message: `only ${PRINCIPAL_COMPONENTSET} may set assignment and grant in spec.components; leave both out of a pin`,
    },
    {
      expression: `variables.components.all(c, !(${changed('grant', 'variables.oldComponents')}) || (${granted('object.metadata.name', 'c.grant.id', 'c.grant.fence')}))`,
      message:
        "a grant in spec.components must be the ledger's unsettled entry for this machine, by id and fence",
    },
  ],
});

function componentsOf(object: string): string {
  return `(has(${object}.spec.components) ? ${object}.spec.components : [])`;
}

function sets(field: string): string {
  return `${NEW}.exists(c, ${changed(field, OLD)})`;
}

/** Whether entry `c` has this field, and no entry of its name had the same value before. */
function changed(field: string, before: string): string {
  return `has(c.${field}) && !${before}.exists(o, o.name == c.name && has(o.${field}) && o.${field} == c.${field})`;
}
