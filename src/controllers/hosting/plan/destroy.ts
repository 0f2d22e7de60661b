/** Plans the next step of the destruction of a control plane: machines first, then members in reverse order, then everything else. Pure. */
import { planRevival } from './create.ts';
import { outsideText } from './exposure/outside.ts';
import type { HostingDecision, HostingInput } from './input.ts';
import { disruptive } from './members.ts';
import { namesOf } from './names.ts';
import { wait } from './wait.ts';

export function planDestroy(input: HostingInput): HostingDecision {
  const { plane, cluster } = input;
  if (plane.claim !== 'Own') return release(input, 'no control plane of it is here');
  if (plane.isDestroying) return planStops(input);
  if (cluster.spec.deletion.policy === 'Orphan') {
    const at = plane.outside ? `, and other machines reach it at ${outsideText(plane.outside)}` : '';
    return release(input, `spec.deletion.policy is Orphan: it is left running in ${plane.where}${at}`);
  }
  // Otherwise sync would undo what is changed in the cluster from here on.
  return planSecret(input) ?? planMachines(input);
}

function release(input: HostingInput, because: string): HostingDecision {
  return planSecret(input) ?? { act: { type: 'RemoveFinalizer', because } };
}

function planSecret(input: HostingInput): HostingDecision | undefined {
  if (input.secret === 'Absent' || input.secret === 'Foreign') return undefined;
  return disruptive(input, { type: 'DeleteSecret', because: 'its Cluster is being deleted' });
}

function planMachines(input: HostingInput): HostingDecision {
  const { inside, cluster } = input;
  if (inside) return inside.machines.length === 0 ? begin(input, 'it has no Machines') : planRelease(input);
  // Sync had no kubeconfig of it before.
  if (cluster.status?.hosted?.readyAt === undefined) return begin(input, 'it has never been ready');
  if (cluster.spec.deletion.force) {
    return begin(input, `its API server does not answer, and spec.deletion.force is set: ${lost(input)}`);
  }
  if (!isLate(input)) return planRevival(input);
  const message = `its API server does not answer, so its Machines cannot be released. Repair it, or set spec.deletion.force: true; ${lost(input)}`;
  return { wait: wait('ApiNotAnswering', message, ['Process', 'kube-apiserver'], 'stalled') };
}

function lost({ cluster }: HostingInput): string {
  const { total } = cluster.status?.machines ?? {};
  return total === undefined ? 'its Machines are not known' : `it had ${total} Machines at the last contact`;
}

function planRelease(input: HostingInput): HostingDecision {
  const { machines = [], machineSets = [] } = input.inside ?? {};
  if (machineSets.length > 0) {
    const because = `machines go before their control plane: ${namesOf(machineSets)}`;
    return disruptive(input, { type: 'ScaleDown', machineSets, because });
  }
  return machinesLeft(input, machines);
}

function machinesLeft(input: HostingInput, machines: readonly string[]): HostingDecision {
  const stalled = isLate(input) ? 'stalled' : undefined;
  if (stalled && input.cluster.spec.deletion.force) {
    return begin(input, `spec.deletion.force is set: left behind are ${namesOf(machines)}`);
  }
  const message = `Machines are left: ${namesOf(machines)}. Delete those of no MachineSet, or set spec.deletion.force: true`;
  return { wait: wait('MachinesLeft', message, ['Machine', machines[0] ?? ''], stalled) };
}

function begin(input: HostingInput, because: string): HostingDecision {
  return disruptive(input, { type: 'BeginDestroy', because });
}

function isLate({ cluster, now }: HostingInput): boolean {
  const since = Date.parse(cluster.metadata.deletionTimestamp ?? '');
  return +now - since > cluster.spec.deletion.timeoutSeconds * 1000;
}

function planStops(input: HostingInput): HostingDecision {
  const running = input.plane.members.findLast(({ state }) => state !== 'Stopped');
  if (running) {
    const because = 'the control plane is being destroyed';
    return disruptive(input, { type: 'Stop', member: running.member, because });
  }
  return disruptive(input, { type: 'Remove', because: 'no member runs' });
}
