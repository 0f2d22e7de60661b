/** Holds what the machine controller knows of one machine. Pure. */
import type { Machine } from '../../api/generated/types.ts';
import type { CertificateRequestObject } from '../../kube/auth/certificate-requests.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Finding } from './finding.ts';
import type { NodeSync } from './node/sync.ts';

export interface MachineInput {
  readonly machine: Machine;
  /** The Node of the same name. Undefined: there is none. */
  readonly node: KubeObject | undefined;
  /** The last heartbeat of the agent. Undefined: the agent has no Lease. */
  readonly heartbeat: Heartbeat | undefined;
  /** The changes that its Node needs. Absent without a Node. */
  readonly sync?: NodeSync;
  /** Whether the provider accepts the config, and whether the host runs. */
  readonly infraFindings: readonly Finding[];
  /** The newest certificate requests for its agent and its kubelet. */
  readonly requests?: { readonly [holder in 'agent' | 'kubelet']?: CertificateRequestObject | undefined };
  readonly now: Date;
}

export interface Heartbeat {
  /** How long ago the Lease last changed, by our own clock: a lower bound. */
  readonly ageMs: number;
  /** Whether this process observed a change. Without one it does not know yet whether the agent is alive. */
  readonly hasChanged: boolean;
  /** How long until a silence of this agent may be reported: many others are silent too. */
  readonly unreportedMs: number;
}
