/** Checks of first certificates, which no agent vouches for yet, and of what only some Machines may have. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import { agentUser, BOOTSTRAP_USER_PREFIX, SIGNER_AGENT } from '../../api/names.ts';
import { type BootstrapTokenRecord, tokenRecordOf } from '../../api/secrets/bootstrap-token.ts';
import { isFollowed } from '../../providers/followed.ts';
import { afterWaiting, type Check, type Claim, claimOf, type Objection } from './claim.ts';
import { namedUids } from './machine.ts';
import type { AgentRequest, ApproverInput } from './observe.ts';

/** An agent that got its first certificate reports within this time: the life of its token. */
const JOINING_MS = 900_000;

export const registrationChecks: readonly Check[] = [
  onlyBy('Import', importing),
  onlyBy('Node', isOfFollowedMachine),
  onlyBy('Token', tokenIsCurrent),
  onlyBy('Token', tokenIsUnused),
  (claim, snapshot) => (claim.requester === 'Agent' ? undefined : alreadyRegistered(claim, snapshot)),
  (claim, snapshot) => (claim.isKubelet ? noKubelet(claim, snapshot) : undefined),
];

function onlyBy(requester: Claim['requester'], check: Check): Check {
  return (claim, snapshot) => (claim.requester === requester ? check(claim, snapshot) : undefined);
}

/** HostTrusted is a condition of imported machines only. Both are written before the request, and our view may be late. */
function importing(claim: Claim, snapshot: ApproverInput): Objection | undefined {
  const { machine } = claim;
  const conditions = snapshot.machine(machine)?.status?.conditions ?? [];
  const trusted = conditions.some(({ type, status }) => type === 'HostTrusted' && status === 'True');
  const step = conditions.find(({ type }) => type === 'Progressing')?.reason;
  if (trusted && step === 'Registering') return undefined;
  const because = `Machine ${machine} is not in step Registering of an import`;
  return afterWaiting(claim, snapshot, { reason: 'NotRegistering', because });
}

/** Where another system makes the node, its kubelet vouches for the agent: both have the same host. Our own machines have a token or an import. */
function isOfFollowedMachine({ machine: name }: Claim, snapshot: ApproverInput): Objection | undefined {
  const machine = snapshot.machine(name);
  if (machine && isFollowed(machine)) return undefined;
  const because = `Machine ${name} has provider ${machine?.spec.infra.provider}: only a Machine that follows another system joins with the certificate of its kubelet. Make a token: kubenode machine token ${name}`;
  return { reason: 'NotFollowed', because };
}

function tokenIsCurrent(claim: Claim, snapshot: ApproverInput): Objection | undefined {
  const { request, machine } = claim;
  const record = recordOf(snapshot.machine(machine));
  if (`${BOOTSTRAP_USER_PREFIX}${record?.id}` !== request.username) {
    const because = `${request.username} is not the newest bootstrap token of Machine ${machine}`;
    return afterWaiting(claim, snapshot, { reason: 'TokenNotCurrent', because });
  }
  if (snapshot.now < new Date(record?.expiresAt ?? 0)) return undefined;
  return { reason: 'TokenExpired', because: `the bootstrap token expired at ${record?.expiresAt}` };
}

function tokenIsUnused({ request }: Claim, snapshot: ApproverInput): Objection | undefined {
  const other = snapshot.approvedBy(request.username).find((each) => !hasSameKey(each, request));
  if (!other) return undefined;
  const because = `the bootstrap token was used for another key, by request ${other.name}`;
  return { reason: 'TokenUsed', because };
}

/** Also while its first certificate is on the way: two tokens must not make two agents. */
function alreadyRegistered(claim: Claim, snapshot: ApproverInput): Objection | undefined {
  const { machine, requester } = claim;
  if (replacesAgent(requester, snapshot.machine(machine))) return undefined;
  const reason = 'AlreadyRegistered';
  const hint = HINTS[requester] ?? 'Raise spec.agentEpoch of the Machine if that agent is lost';
  const joining = joiningRequest(claim, snapshot);
  if (joining) {
    return { reason, because: `request ${joining.name} got the first certificate of ${machine}. ${hint}` };
  }
  const ageMs = snapshot.heartbeatAgeMs(machine);
  if (ageMs === undefined || ageMs >= SILENT_MS) return undefined;
  const because = `the agent of Machine ${machine} is alive. ${hint}`;
  return afterWaiting(claim, snapshot, { reason, because }, SILENT_MS);
}

/** The hints for requesters to whom the epoch means nothing. */
const HINTS: Partial<Readonly<Record<Claim['requester'], string>>> = {
  Node: 'It is replaced when it has been silent for a while, or at once with a token: kubenode machine token',
};

/** Tells whether spec.agentEpoch was raised for this certificate: a token records it, and an import compares it. */
function replacesAgent(requester: Claim['requester'], machine: Machine | undefined): boolean {
  if (requester === 'Token') return recordOf(machine)?.replacesAgent === true;
  if (requester !== 'Import' || !machine) return false;
  return machine.spec.agentEpoch > (machine.status?.import?.agentEpoch ?? 0);
}

function joiningRequest({ request, machine }: Claim, snapshot: ApproverInput): AgentRequest | undefined {
  const uid = snapshot.machine(machine)?.metadata.uid;
  return snapshot
    .approvedFor(machine)
    .find(
      (each) =>
        each.signer === SIGNER_AGENT &&
        each.username !== agentUser(machine) &&
        !hasSameKey(each, request) &&
        !isForOtherUid(each, uid) &&
        snapshot.now.getTime() - (each.approvedAt?.getTime() ?? 0) < JOINING_MS,
    );
}

/** A Machine that was deleted may have had the name before: a set gives the same names again. It was approved for the UID that it proves. */
function isForOtherUid(request: AgentRequest, uid: string | undefined): boolean {
  const claim = claimOf(request);
  const uids = 'requester' in claim ? namedUids(claim) : [];
  return uids.length > 0 && uids.every((each) => each !== uid);
}

function noKubelet(claim: Claim, snapshot: ApproverInput): Objection | undefined {
  const entries = snapshot.machine(claim.machine)?.spec.components ?? [];
  const present = entries.filter(({ state }) => state === 'Present');
  if (present.some(({ componentRef }) => snapshot.component(componentRef)?.spec.identity === 'Kubelet')) {
    return undefined;
  }
  const because = `no component of Machine ${claim.machine} has identity: Kubelet`;
  return afterWaiting(claim, snapshot, { reason: 'NoKubeletIdentity', because });
}

function recordOf(machine: Machine | undefined): BootstrapTokenRecord | undefined {
  return machine && tokenRecordOf(machine);
}

function hasSameKey(one: AgentRequest, other: AgentRequest): boolean {
  return one.content !== undefined && one.content.key.sha256 === other.content?.key.sha256;
}
