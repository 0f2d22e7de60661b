/** Reads what the approver decides by: the Machines with their components and heartbeats, and all certificate requests. */
import { MACHINE_COMPONENTS, MACHINES } from '../../api/generated/resources.ts';
import type { Machine, MachineComponent } from '../../api/generated/types.ts';
import { agentLease } from '../../api/machine/agent-lease.ts';
import { requestsBy, requestsFor } from '../../api/machine/certificate-requests.ts';
import { ANNOTATION_MACHINE_UID } from '../../api/names.ts';
import {
  CERTIFICATE_REQUESTS,
  type CertificateRequestObject,
  decisionOf,
  requestText,
} from '../../kube/auth/certificate-requests.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { parseCertificateRequest } from '../../os/x509/certificate-request.ts';
import type { ParsedRequest } from '../../os/x509/request.ts';

/** A certificate request as the approver judges it. */
export interface AgentRequest {
  readonly name: string;
  readonly signer: string;
  /** Who created it, as the API server authenticated them. */
  readonly username: string;
  readonly groups: readonly string[];
  readonly usages: readonly string[];
  readonly expirationSeconds: number | undefined;
  readonly createdAt: Date;
  /** The UID that its annotation names. Only a token proves one. */
  readonly machineUid: string | undefined;
  readonly state: 'Pending' | 'Approved' | 'Denied';
  readonly approvedAt: Date | undefined;
  /** Undefined when it cannot be parsed. */
  readonly content: ParsedRequest | undefined;
}

export interface ApproverInput {
  readonly now: Date;
  machine(name: string): Machine | undefined;
  component(ref: string): MachineComponent | undefined;
  /** Returns how long ago the agent of that machine last renewed its Lease, by our own clock. Undefined without a Lease. */
  heartbeatAgeMs(machine: string): number | undefined;
  /** Returns the approved requests of this requester that still exist: Kubernetes keeps them for an hour. */
  approvedBy(username: string): readonly AgentRequest[];
  /** Returns the approved requests for the certificates of a machine, by any requester. */
  approvedFor(machine: string): readonly AgentRequest[];
}

export function observeForApproval(context: ReconcileContext): ApproverInput {
  return {
    now: context.clock.now(),
    machine: (name) => context.view<Machine>(MACHINES).get(name),
    component: (ref) => context.view<MachineComponent>(MACHINE_COMPONENTS).get(ref),
    heartbeatAgeMs: (name) => {
      const machine = context.view<Machine>(MACHINES).get(name);
      return machine && agentLease(machine, context)?.ageMs;
    },
    approvedBy: (username) => approved(requestsBy(username, context.view(CERTIFICATE_REQUESTS))),
    approvedFor: (machine) => approved(requestsFor(machine, context.view(CERTIFICATE_REQUESTS))),
  };
}

function approved(requests: readonly CertificateRequestObject[]): readonly AgentRequest[] {
  return requests.filter((each) => decisionOf(each).state === 'Approved').map(readRequest);
}

export function readRequest(object: CertificateRequestObject): AgentRequest {
  const { metadata, spec } = object;
  const { username = '', groups = [], usages = [] } = spec;
  const { state, at } = decisionOf(object);
  return {
    name: metadata.name,
    signer: spec.signerName,
    username,
    groups,
    usages,
    expirationSeconds: spec.expirationSeconds,
    createdAt: new Date(metadata.creationTimestamp ?? 0),
    machineUid: metadata.annotations?.[ANNOTATION_MACHINE_UID],
    state,
    approvedAt: state === 'Approved' ? at : undefined,
    content: parseCertificateRequest(requestText(object)),
  };
}
