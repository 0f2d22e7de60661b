/** Decides the condition CertificateIssued of a Machine, and which certificate request it waits for. Pure. */
import { MACHINES } from '../../api/generated/resources.ts';
import type { Machine } from '../../api/generated/types.ts';
import { BOOTSTRAP_USER_PREFIX, bootstrapTokenSecret, NAMESPACE_KUBE_SYSTEM } from '../../api/names.ts';
import { type BootstrapTokenRecord, tokenRecordOf } from '../../api/secrets/bootstrap-token.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
  decisionOf,
} from '../../kube/auth/certificate-requests.ts';
import { type Finding, finding } from './finding.ts';
import { mayHaveInstance } from './instance/plan.ts';
import type { MachineInput } from './observe.ts';

type Reason = Pick<Finding, 'reason' | 'message' | 'blocker'>;

/** The shortest certificate lives 10 minutes, and is renewed at the latest at 65 percent of that. */
const RENEWAL_MS = 180_000;
const TYPE = 'CertificateIssued';

export function certificateFinding(observation: MachineInput): Finding {
  const { machine, heartbeat, now } = observation;
  const end = machine.status?.agent?.certificateNotAfter;
  if (end === undefined) {
    // No Lease is renewed without a certificate; the agent reports its end later.
    if (heartbeat) return finding(TYPE, 'True', 'InUse', 'the agent uses a certificate');
    return { type: TYPE, status: 'False', ...joinReason(observation) };
  }
  const leftMs = Date.parse(end) - now.getTime();
  if (leftMs > RENEWAL_MS) return finding(TYPE, 'True', 'AsWanted', 'the certificate is valid');
  return { type: TYPE, status: 'False', ...renewalReason(observation, { end, leftMs }) };
}

/** Returns why the request has no certificate yet; undefined once it has one, or without a request. */
export function requestReason(request: CertificateRequestObject | undefined): Reason | undefined {
  if (!request || request.status?.certificate !== undefined) return undefined;
  const { name } = request.metadata;
  const blocker = { kind: CERTIFICATE_REQUESTS.kind, name };
  const { state, because = '' } = decisionOf(request);
  const [reason, text] = {
    Denied: ['RequestDenied', `was denied: ${because}`] as const,
    Pending: ['RequestPending', 'is not approved yet'] as const,
    Approved: ['RequestNotSigned', 'is approved, and its signer has not issued the certificate'] as const,
  }[state];
  return { reason, message: `certificate request ${name} ${text}`, blocker };
}

function joinReason({ machine, requests, now }: MachineInput): Reason {
  const token = tokenRecordOf(machine);
  const isUsable = token?.secretUid !== undefined && now < new Date(token.expiresAt);
  const request = requests?.agent;
  const isOfOlderToken = isUsable && isWithAnotherToken(request, token);
  return (isOfOlderToken ? undefined : requestedReason(request)) ?? tokenReason(machine, token, isUsable);
}

function requestedReason(request: CertificateRequestObject | undefined): Reason | undefined {
  if (!request || request.status?.certificate === undefined) return requestReason(request);
  const { name } = request.metadata;
  const message = `certificate request ${name} has its certificate: the agent has not used it yet`;
  return { reason: 'NotInUse', message, blocker: { kind: CERTIFICATE_REQUESTS.kind, name } };
}

function isWithAnotherToken(
  request: CertificateRequestObject | undefined,
  { id }: BootstrapTokenRecord,
): boolean {
  const username = request?.spec.username ?? '';
  return username.startsWith(BOOTSTRAP_USER_PREFIX) && username !== `${BOOTSTRAP_USER_PREFIX}${id}`;
}

function tokenReason(machine: Machine, token: BootstrapTokenRecord | undefined, isUsable: boolean): Reason {
  const { metadata, status } = machine;
  const { name } = metadata;
  const blocker = { kind: MACHINES.kind, name };
  if (token && isUsable) {
    const unused = `the host has not used its bootstrap token ${token.id} yet; it ends at ${token.expiresAt}`;
    const message = `${unused}${consoleHint(machine)}`;
    const secret = { kind: 'Secret', name: bootstrapTokenSecret(token.id), namespace: NAMESPACE_KUBE_SYSTEM };
    return { reason: 'TokenUnused', message, blocker: secret };
  }
  // Its provider delivers the next token, or the host needs none.
  if (mayHaveInstance(machine)) {
    const why =
      status?.infra?.providerID === undefined
        ? 'its provider has not created the host yet'
        : `the host has not joined${consoleHint(machine)}`;
    return { reason: 'NotIssued', message: `the agent has no certificate: ${why}`, blocker };
  }
  const hint = `Run kubenode machine token ${name}`;
  if (!token) {
    return { reason: 'NoToken', message: `the host has no bootstrap token to join with. ${hint}`, blocker };
  }
  const message = `token ${token.id} ended before the host joined. ${hint}`;
  return { reason: 'TokenEnded', message, blocker };
}

/** The providers whose instances print what they do to a console that people can read. */
const WITH_CONSOLE: readonly string[] = ['alibaba', 'aws', 'azure'];

/** Tells where to look for a host that never joins: it did not boot, its user data was lost, or it reaches no server. */
function consoleHint({ spec, status }: Machine): string {
  const { providerID, state = 'Unknown' } = status?.infra ?? {};
  if (providerID === undefined || !WITH_CONSOLE.includes(spec.infra.provider)) return '';
  const shows = 'whether it boots, runs its user data, and reaches the agent download and the API server';
  return `. Instance ${providerID} is ${state}. If this lasts, read its console output: it shows ${shows}`;
}

function renewalReason(
  { requests }: MachineInput,
  { end, leftMs }: { readonly end: string; readonly leftMs: number },
): Reason {
  const state = leftMs > 0 ? 'is about to expire' : 'has expired';
  const blocked = requestReason(requests?.agent);
  const why = blocked ? `: ${blocked.message}` : '. If the agent cannot renew it, raise spec.agentEpoch';
  const message = `the certificate of the agent ${state} (${end})${why}`;
  const blocker = blocked?.blocker ? { blocker: blocked.blocker } : {};
  return { reason: leftMs > 0 ? 'NotRenewed' : 'Expired', message, ...blocker };
}
