/** Whether a request is in our names, its requester, its machine, and the form of the checks of it. Pure. */
import {
  AGENT_GROUP,
  AGENT_USER_PREFIX,
  agentUser,
  BOOTSTRAP_GROUP,
  BOOTSTRAP_USER_PREFIX,
  NODE_GROUP,
  NODE_USER_PREFIX,
  PRINCIPAL_MACHINE,
  SIGNER_AGENT,
  SIGNER_KUBELET,
  serviceAccountUser,
} from '../../api/names.ts';
import type { ParsedRequest, RequestedName } from '../../os/x509/request.ts';
import type { AgentRequest, ApproverInput } from './observe.ts';

export interface Claim {
  readonly request: AgentRequest;
  readonly requester: Requester;
  readonly machine: string;
  readonly isKubelet: boolean;
  /** The only subject that is approved. */
  readonly name: RequestedName;
}

/** Import is the machine controller, for a host that it connects to by SSH. Node is a kubelet, for the agent of its own host. */
export type Requester = 'Agent' | 'Token' | 'Import' | 'Node';

/** Why a request is not approved. With `until` it may still be, and is judged again then. */
export interface Objection {
  readonly reason: string;
  readonly because: string;
  readonly until?: Date;
}

export type Check = (claim: Claim, input: ApproverInput) => Objection | undefined;

/** How much later than the request our view may be. */
const LATE_MS = 10_000;

/**
 * Lets an objection wait for a while after the request, because what is missing may only be late. After that time it denies the
 * request.
 */
export function afterWaiting(
  { request }: Claim,
  { now }: ApproverInput,
  objection: Objection,
  waitMs: number = LATE_MS,
): Objection {
  const until = new Date(request.createdAt.getTime() + waitMs);
  return now < until ? { ...objection, until } : objection;
}

/** Requests of our requesters, and requests of anybody for the names of agents. Other signers are not ours to answer. */
export function isOurs(request: AgentRequest): boolean {
  const { signer, groups, content } = request;
  if (signer !== SIGNER_AGENT && signer !== SIGNER_KUBELET) return false;
  const requester = requesterOf(request);
  if ((requester !== undefined && requester !== 'Node') || groups.some(isOurGroup)) return true;
  return content !== undefined && isForAgent(content);
}

function isForAgent({ commonNames, organizations }: ParsedRequest): boolean {
  return (
    organizations.includes(AGENT_GROUP) || commonNames.some((name) => name.startsWith(AGENT_USER_PREFIX))
  );
}

/** The requester and its machine, or why it may not request this. */
export function claimOf(request: AgentRequest): Claim | Objection {
  const isKubelet = request.signer === SIGNER_KUBELET;
  const machine = machineIn(request, isKubelet);
  const requester = requesterOf(request);
  if (machine === undefined) return { reason: 'WrongName', because: 'the subject names no machine' };
  if (requester === undefined || (isKubelet && requester !== 'Agent')) {
    const because = `${request.username} may not request a certificate for ${machine}`;
    return { reason: 'RequesterNotAllowed', because };
  }
  if (isOfAnother(request, requester, machine)) {
    const because = `${request.username} may not request a certificate for another machine, ${machine}`;
    return { reason: 'OtherMachine', because };
  }
  return { request, requester, machine, isKubelet, name: nameFor(machine, isKubelet) };
}

function isOfAnother({ username }: AgentRequest, requester: Requester, machine: string): boolean {
  if (requester === 'Node') return username !== `${NODE_USER_PREFIX}${machine}`;
  return requester === 'Agent' && username !== agentUser(machine);
}

function requesterOf(request: AgentRequest): Requester | undefined {
  const { username, groups } = request;
  if (username.startsWith(AGENT_USER_PREFIX) && groups.includes(AGENT_GROUP)) return 'Agent';
  if (username.startsWith(BOOTSTRAP_USER_PREFIX) && groups.some(isOfBootstrap)) return 'Token';
  if (username === serviceAccountUser(PRINCIPAL_MACHINE)) return 'Import';
  return isOfNode(request) ? 'Node' : undefined;
}

/** Another controller answers for the certificate of the kubelet itself. */
function isOfNode({ username, groups, signer }: AgentRequest): boolean {
  return signer === SIGNER_AGENT && username.startsWith(NODE_USER_PREFIX) && groups.includes(NODE_GROUP);
}

function isOurGroup(group: string): boolean {
  return group === AGENT_GROUP || isOfBootstrap(group);
}

function isOfBootstrap(group: string): boolean {
  return group === BOOTSTRAP_GROUP || group.startsWith(`${BOOTSTRAP_GROUP}:`);
}

/** The first name of the subject tells what it is about; that it is exactly the right one is checked as bytes. */
function machineIn({ content }: AgentRequest, isKubelet: boolean): string | undefined {
  const prefix = isKubelet ? NODE_USER_PREFIX : AGENT_USER_PREFIX;
  const name = content?.commonNames[0];
  return name?.startsWith(prefix) && name.length > prefix.length ? name.slice(prefix.length) : undefined;
}

function nameFor(machine: string, isKubelet: boolean): RequestedName {
  return isKubelet
    ? { commonName: `${NODE_USER_PREFIX}${machine}`, organization: NODE_GROUP }
    : { commonName: agentUser(machine), organization: AGENT_GROUP };
}
