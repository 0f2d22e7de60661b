/** Reads from the views what peers are asked to probe: who probes a machine, and what its own agent probes. */

import { silentMachinesOf } from '../../../api/diagnosis/silent-machines.ts';
import { MACHINES } from '../../../api/generated/resources.ts';
import type { Machine, MachineSilence, PeerProbeRequest } from '../../../api/generated/types.ts';
import type { ReconcileContext } from '../../../kube/controller/reconcile-context.ts';
import { NODES } from '../../../kube/objects/core-kinds.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Heartbeat } from '../observe.ts';
import { peersAgainAt, planProbeRequests, planSilence, type SilenceInput } from './plan.ts';
import { kubeletTarget } from './target.ts';

export interface PeerReport {
  readonly silence?: MachineSilence;
  readonly probeRequests?: readonly PeerProbeRequest[];
}

export interface ObservedPeers {
  readonly report: PeerReport;
  readonly requeueAt?: Date;
}

export function observePeers(
  machine: Machine,
  heartbeat: Heartbeat | undefined,
  context: ReconcileContext,
): ObservedPeers {
  const { name } = machine.metadata;
  const machines = context.view<Machine>(MACHINES);
  const nodes = context.view(NODES);
  const node = nodes.get(name);
  const input: SilenceInput = {
    machine,
    node,
    target: () => kubeletTarget(machine, node),
    heartbeat,
    find: (peer) => machines.get(peer),
    nodeOf: (peer) => nodes.get(peer),
    fleet: () => machines.list(),
    now: context.clock.now(),
  };
  const probeRequests = planProbeRequests(silentMachinesOf(name, machines));
  return {
    report: { ...optional('silence', planSilence(input)), ...optional('probeRequests', probeRequests) },
    ...optional('requeueAt', peersAgainAt(input)),
  };
}

/** Returns the machines that a change of this one concerns: itself, and the peers that are asked to probe it. */
export function machineAndPeers({ metadata, status }: Machine): readonly string[] {
  return [metadata.name, ...(status?.silence?.peers ?? [])];
}
