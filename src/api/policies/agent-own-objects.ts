import type { KubeObject } from '../../kube/objects/object.ts';
import {
  AGENT_GROUP,
  AGENT_USER_PREFIX,
  GROUP,
  KUBELET_CONDITIONS,
  NAMESPACE_AGENTS,
  POLICY_AGENT_OWN_OBJECTS,
  SIGNER_AGENT,
  SIGNER_KUBELET,
} from '../names.ts';
import { celList, celText, sameBut, USER } from './cel.ts';
import { type Operation, policy, type Validation } from './policy.ts';

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE'];

/** Whether the request is from an agent, by its group or by its user name: either one is enough. */
export const FROM_AGENT =
  `(has(request.userInfo.groups) && ${celText(AGENT_GROUP)} in request.userInfo.groups) || ` +
  `(has(${USER}) && ${USER}.startsWith(${celText(AGENT_USER_PREFIX)}))`;

const EVERYTHING = {
  apiGroups: ['*'],
  apiVersions: ['*'],
  operations: OPERATIONS,
  resources: ['*/*'],
};

/** Group, resource and subresource of the request, joined. */
const WHAT =
  "request.resource.group + '/' + request.resource.resource + " +
  "(has(request.subResource) && request.subResource != '' ? '/' + request.subResource : '')";

const MACHINE = `${GROUP}/machines/status`;
const JOB = `${GROUP}/remedyoperationjobs/status`;
const NODE = '/nodes/status';
const LEASE = 'coordination.k8s.io/leases';
const EVENTS = ['/events', 'events.k8s.io/events'];
const CSR = 'certificates.k8s.io/certificatesigningrequests';
/** Reviews, which are created but never stored. */
const REVIEWS = [
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
];

const STATUS_FIELDS = ['agent', 'system', 'components', 'drift', 'facts', 'peers'];
const CONDITIONS = ['ComponentsReady', 'UpToDate', 'DriftDetected'];
/** Metadata that the server itself changes on each write. */
const BOOKKEEPING = ['managedFields', 'resourceVersion', 'generation'];
const USAGES = ['client auth', 'digital signature', 'key encipherment'];

const variables = {
  what: WHAT,
  machine: `${USER}.startsWith(${celText(AGENT_USER_PREFIX)}) ? ${USER}.substring(${AGENT_USER_PREFIX.length}) : ''`,
  status: 'has(object.status) ? object.status : {}',
  oldStatus: 'has(oldObject.status) ? oldObject.status : {}',
  conditions: "'conditions' in variables.status ? variables.status.conditions : []",
  oldConditions: "'conditions' in variables.oldStatus ? variables.oldStatus.conditions : []",
  // Old and new subject are checked, so that an update cannot take over the Event of another object.
  subject: "request.resource.group == '' ? object.involvedObject : object.regarding",
  oldSubject:
    "request.operation == 'CREATE' ? variables.subject : (request.resource.group == '' ? oldObject.involvedObject : oldObject.regarding)",
};

const validations: readonly Validation[] = [
  rule(
    `(request.operation == 'UPDATE' && variables.what in ${celList([MACHINE, JOB, NODE])}) || ` +
      `(request.operation in ['CREATE', 'UPDATE'] && variables.what in ${celList([LEASE, ...EVENTS])}) || ` +
      `(request.operation == 'CREATE' && variables.what in ${celList([CSR, ...REVIEWS])})`,
    'an agent may write only the status of its Machine, jobs and Node, its Lease, Events and certificate requests',
  ),
  about(
    MACHINE,
    'object.metadata.name == variables.machine',
    'an agent may write the status of its own Machine only',
  ),
  about(
    MACHINE,
    sameBut([...STATUS_FIELDS, 'conditions'], 'variables.status', 'variables.oldStatus'),
    `of a Machine's status an agent may write ${STATUS_FIELDS.join(', ')} and its conditions only`,
  ),
  about(
    MACHINE,
    othersKept(`c.type in ${celList(CONDITIONS)}`),
    `of a Machine's conditions an agent may write ${CONDITIONS.join(', ')} only`,
  ),
  about(
    JOB,
    'oldObject.spec.machine.name == variables.machine',
    'an agent may write jobs of its own Machine only',
  ),
  about(
    JOB,
    `${sameBut(['agent', 'conditions'], 'variables.status', 'variables.oldStatus')} && ${othersKept('false')}`,
    "of a job's status an agent may write `agent` only",
  ),
  about(
    NODE,
    'object.metadata.name == variables.machine',
    'an agent may write conditions of its own Node only',
  ),
  about(
    NODE,
    `${sameBut(['conditions'], 'variables.status', 'variables.oldStatus')} && ` +
      `${sameBut(['metadata', 'status'], 'object', 'oldObject')} && ` +
      sameBut(BOOKKEEPING, 'object.metadata', 'oldObject.metadata'),
    'of a Node an agent may write conditions only',
  ),
  about(
    NODE,
    othersKept(`!(c.type in ${celList(KUBELET_CONDITIONS)})`),
    `an agent may not write the kubelet's conditions: ${KUBELET_CONDITIONS.join(', ')}`,
  ),
  about(
    LEASE,
    `request.namespace == ${celText(NAMESPACE_AGENTS)} && object.metadata.name == variables.machine`,
    `an agent may write one Lease, in namespace ${NAMESPACE_AGENTS}, named like its machine`,
  ),
  rule(
    `!(variables.what in ${celList(EVENTS)}) || (${ownSubject('variables.subject')} && ${ownSubject('variables.oldSubject')})`,
    'an agent may write Events about its own Machine, Node and jobs only',
  ),
  about(
    CSR,
    `object.spec.signerName in ${celList([SIGNER_AGENT, SIGNER_KUBELET])} && has(object.spec.usages) && object.spec.usages.all(u, u in ${celList(USAGES)})`,
    'an agent may request client certificates only',
  ),
];

export const agentOwnObjects: readonly KubeObject[] = policy({
  name: POLICY_AGENT_OWN_OBJECTS,
  description: 'An agent may write objects of its own machine only.',
  match: [EVERYTHING],
  conditions: { 'from-agent': FROM_AGENT },
  variables,
  validations,
});

function rule(expression: string, message: string): Validation {
  return { expression, message };
}

function about(what: string, expression: string, message: string): Validation {
  return rule(`variables.what != ${celText(what)} || (${expression})`, message);
}

/**
 * Conditions that are not the agent's are unchanged: none added, none removed. They are compared separately from
 * the rest of the status, as the server adds an empty list with the first write.
 */
function othersKept(own: string): string {
  return (
    `variables.conditions.all(c, ${own} || variables.oldConditions.exists(o, o == c)) && ` +
    `variables.oldConditions.all(c, ${own} || variables.conditions.exists(n, n == c))`
  );
}

/** An Event names a job only, so the job is recognized by its name, which begins with the name of its machine. */
function ownSubject(subject: string): string {
  const job = "'^' + variables.machine.replace('.', '[.]') + '-.+-[0-9a-f]{8}-r[1-8]-a[1-5]$'";
  return (
    `has(${subject}.kind) && has(${subject}.name) && ` +
    `((${subject}.kind in ['Machine', 'Node'] && ${subject}.name == variables.machine) || ` +
    `(${subject}.kind == 'RemedyOperationJob' && ${subject}.name.matches(${job})))`
  );
}
