/** Reads what one machine is judged by: its Node, its heartbeat, its certificate requests, and its instance. */
import type { Machine } from '../../api/generated/types.ts';
import { lastRequestOf } from '../../api/machine/certificate-requests.ts';
import { CERTIFICATE_REQUESTS, type CertificateRequestObject } from '../../kube/auth/certificate-requests.ts';
import type { ReconcileContext } from '../../kube/controller/reconcile-context.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { optional } from '../../kube/objects/optional.ts';
import { holdInForce } from '../../rollout/holds.ts';
import type { Finding } from './finding.ts';
import { type NodeSync, planNodeSync } from './node/sync.ts';

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
  /** How far the import of the host is; empty for hosts that join by themselves. */
  readonly importFindings?: readonly Finding[];
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

export function observeMachineState(
  known: Pick<MachineInput, 'machine' | 'heartbeat' | 'infraFindings' | 'importFindings'>,
  context: ReconcileContext,
): MachineInput {
  const { machine } = known;
  const { name } = machine.metadata;
  const node = context.view(NODES).get(name);
  const now = context.clock.now();
  const mayEvict = holdInForce(machine, node, now) === undefined;
  const sync = node && planNodeSync(machine, node, { mayEvict, removeStartupTaint: false });
  const all = context.view(CERTIFICATE_REQUESTS);
  const requests = { agent: lastRequestOf(name, 'Agent', all), kubelet: lastRequestOf(name, 'Kubelet', all) };
  return { ...known, node, requests, ...optional('sync', sync), now };
}
