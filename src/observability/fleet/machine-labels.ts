/** Describes a machine for queries that join metrics of its Node with it. Pure. */
import { poolOf } from '../../api/diagnosis/dimensions.ts';
import type { Machine } from '../../api/generated/types.ts';

const KUBELET = 'kubelet';

export interface MachineLabels {
  readonly node: string;
  /** Empty: no pool. */
  readonly pool: string;
  /** The version of the kubelet that runs. Empty: no component of kubenode is the kubelet. */
  readonly version: string;
}

/** Undefined: the machine was never in service, and has no Node. */
export function machineLabels({ metadata, status }: Machine): MachineLabels | undefined {
  if (status?.node?.establishedAt === undefined) return undefined;
  const kubelet = status.components?.find(({ name }) => name === KUBELET);
  return {
    node: metadata.name,
    pool: poolOf(metadata.labels ?? {}) ?? '',
    version: versionOf(kubelet?.currentRef),
  };
}

/** The kubelet may be a part of a component of another name. */
function versionOf(ref = ''): string {
  return ref.startsWith(`${KUBELET}-`) ? ref.slice(KUBELET.length + 1) : ref;
}
