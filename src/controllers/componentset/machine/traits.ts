/** Reads what distinguishes a machine from others: its labels, its kernel, and the kind of machine that it is. Pure. */
import { hardwareModel, machinePlace } from '../../../api/diagnosis/dimensions.ts';
import type { Machine, MachineSystem } from '../../../api/generated/types.ts';
import { ownValue, textAt } from '../../../kube/objects/json.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';

export interface HostParts {
  readonly machine: Machine;
  /** Undefined: it has no Node. */
  readonly node?: KubeObject;
}

/** Returns the value of a label. That of the Machine wins: a kubelet may set labels of its own Node. */
export function machineLabel({ machine, node }: HostParts, key: string): string | undefined {
  return ownValue(machinePlace(machine, node).labels, key);
}

/** Returns the version of the running kernel. Undefined: neither the agent nor the kubelet has reported it. */
export function kernelOf(host: HostParts): string | undefined {
  return reported(host, 'kernel', 'kernelVersion');
}

/**
 * Returns a text that is the same for machines that a version can hardly tell apart: of one zone, image, kernel, architecture and class of
 * hardware. What is not reported is a value of its own.
 */
export function machineKind(host: HostParts): string {
  const { zone, labels } = machinePlace(host.machine, host.node);
  const values = [zone, reported(host, 'os', 'operatingSystem'), reported(host, 'osImage', 'osImage')];
  const hardware = hardwareModel(host.machine.status, labels);
  const all = [...values, kernelOf(host), reported(host, 'arch', 'architecture'), hardware];
  return JSON.stringify(all.map((value) => value ?? null));
}

/** Returns what the agent reports, or else the kubelet. */
function reported(
  { machine, node }: HostParts,
  field: keyof MachineSystem,
  info: string,
): string | undefined {
  return machine.status?.system?.[field] ?? textAt(node, 'status', 'nodeInfo', info);
}
