import type { KubeObject } from '../../kube/objects/object.ts';
import {
  AGENT_GROUP,
  AGENT_USER_PREFIX,
  GROUP,
  NAMESPACE_AGENTS,
  POLICY_AGENT_OWN_OBJECTS,
} from '../names.ts';
import { list, sameBut, text, USER } from './cel.ts';
import { type Operation, policy, type Validation } from './policy.ts';

const OPERATIONS: readonly Operation[] = ['CREATE', 'UPDATE', 'DELETE'];

/** A request of an agent: by its group, or by its name, so that neither alone slips through. */
export const FROM_AGENT =
  `(has(request.userInfo.groups) && ${text(AGENT_GROUP)} in request.userInfo.groups) || ` +
  `(has(${USER}) && ${USER}.startsWith(${text(AGENT_USER_PREFIX)}))`;

const EVERYTHING = {
  apiGroups: ['*'],
  apiVersions: ['*'],
  operations: OPERATIONS,
  resources: ['*/*'],
};

/** Group, resource and subresource of the request in one word. */
const WHAT =
  "request.resource.group + '/' + request.resource.resource + " +
  "(has(request.subResource) && request.subResource != '' ? '/' + request.subResource : '')";

const MACHINE = `${GROUP}/machines/status`;
const JOB = `${GROUP}/remedyoperationjobs/status`;
const NODE = '/nodes/status';
const LEASE = 'coordination.k8s.io/leases';
const EVENTS = ['/events', 'events.k8s.io/events'];
const CSR = 'certificates.k8s.io/certificatesigningrequests';
/** Questions, which write nothing. */
const QUESTIONS = [
  'authentication.k8s.io/selfsubjectreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
];

const STATUS_FIELDS = ['agent', 'system', 'components', 'drift', 'facts'];
const CONDITIONS = ['ComponentsReady', 'UpToDate', 'DriftDetected'];
/** The kubelet's own, which no agent may write: an ill node would else be said to be well. */
const KUBELET_CONDITIONS = ['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure', 'NetworkUnavailable'];
/** What the server itself changes on a write. */
const BOOKKEEPING = ['managedFields', 'resourceVersion', 'generation'];
const SIGNERS = ['kubernetes.io/kube-apiserver-client', 'kubernetes.io/kube-apiserver-client-kubelet'];
const USAGES = ['client auth', 'digital signature', 'key encipherment'];

const variables = {
  what: WHAT,
  machine: `${USER}.startsWith(${text(AGENT_USER_PREFIX)}) ? ${USER}.substring(${AGENT_USER_PREFIX.length}) : ''`,
  status: 'has(object.status) ? object.status : {}',
  oldStatus: 'has(oldObject.status) ? oldObject.status : {}',
  conditions: "'conditions' in variables.status ? variables.status.conditions : []",
  oldConditions: "'conditions' in variables.oldStatus ? variables.oldStatus.conditions : []",
  // An update may not turn another's Event into one of ours, so both sides count.
  subject: "request.resource.group == '' ? object.involvedObject : object.regarding",
  oldSubject:
    "request.operation == 'CREATE' ? variables.subject : (request.resource.group == '' ? oldObject.involvedObject : oldObject.regarding)",
};

const validations: readonly Validation[] = [
  rule(
    `(request.operation == 'UPDATE' && variables.what in ${list([MACHINE, JOB, NODE])}) || ` +
      `(request.operation in ['CREATE', 'UPDATE'] && variables.what in ${list([LEASE, ...EVENTS])}) || ` +
      `(request.operation == 'CREATE' && variables.what in ${list([CSR, ...QUESTIONS])})`,
    'an agent may write status of its Machine, jobs and Node, its Lease, Events and certificate requests, and nothing else',
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
    othersKept(`c.type in ${list(CONDITIONS)}`),
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
    othersKept(`!(c.type in ${list(KUBELET_CONDITIONS)})`),
    `an agent may not write the kubelet's conditions: ${KUBELET_CONDITIONS.join(', ')}`,
  ),
  about(
    LEASE,
    `request.namespace == ${text(NAMESPACE_AGENTS)} && object.metadata.name == variables.machine`,
    `an agent may write one Lease, in namespace ${NAMESPACE_AGENTS}, named like its machine`,
  ),
  rule(
    `!(variables.what in ${list(EVENTS)}) || (${ownSubject('variables.subject')} && ${ownSubject('variables.oldSubject')})`,
    'an agent may write Events about its own Machine, Node and jobs only',
  ),
  about(
    CSR,
    `object.spec.signerName in ${list(SIGNERS)} && has(object.spec.usages) && object.spec.usages.all(u, u in ${list(USAGES)})`,
    'an agent may ask for client certificates only',
  ),
];

export const agentOwnObjects: readonly KubeObject[] = policy({
  name: POLICY_AGENT_OWN_OBJECTS,
  description: 'An agent writes what belongs to its own machine, and nothing else.',
  match: [EVERYTHING],
  conditions: { 'from-agent': FROM_AGENT },
  variables,
  validations,
});

function rule(expression: string, message: string): Validation {
  return { expression, message };
}

function about(what: string, expression: string, message: string): Validation {
  return rule(`variables.what != ${text(what)} || (${expression})`, message);
}

/**
 * Conditions that are not the agent's are the same as before, none more and none less. They are compared apart from
 * the rest of the status, as the server fills in an empty list with the first write.
 */
function othersKept(own: string): string {
  return (
    `variables.conditions.all(c, ${own} || variables.oldConditions.exists(o, o == c)) && ` +
    `variables.oldConditions.all(c, ${own} || variables.conditions.exists(n, n == c))`
  );
}

/** A job is told by its name, which begins with that of its machine: an Event does not say more. */
function ownSubject(subject: string): string {
  const job = "'^' + variables.machine.replace('.', '[.]') + '-.+-[0-9a-f]{8}-r[1-8]-a[1-5]$'";
  return (
    `has(${subject}.kind) && has(${subject}.name) && ` +
    `((${subject}.kind in ['Machine', 'Node'] && ${subject}.name == variables.machine) || ` +
    `(${subject}.kind == 'RemedyOperationJob' && ${subject}.name.matches(${job})))`
  );
}
