/** Properties of machines in which a common cause is searched: places and versions. Pure. */

import { ownValue, textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { Labels } from '../../kube/objects/selector.ts';
import type { Dimension } from '../enums.ts';
import type { Machine } from '../generated/types.ts';
import { LABEL_MACHINESET, LABEL_POOL } from '../names.ts';

/** A machine has one value of most of them, none if it was not observed, and a `componentVersion` for each component. */
export type Dimensions = Readonly<Record<string, string | readonly string[]>>;

export interface MachinePlace {
  readonly zone: string | undefined;
  readonly pool: string | undefined;
  readonly labels: Labels;
}

const INSTANCE_TYPE = 'node.kubernetes.io/instance-type';
const ZONE = 'topology.kubernetes.io/zone';
export const RACK = 'topology.kubernetes.io/rack';
/** Written by the GPU feature discovery of NVIDIA, where no agent reports the driver. */
const DRIVER = 'nvidia.com/cuda.driver-version.full';
/** Bound of the key of a breaker in the status: `kernelVersion=6.9`. */
const MAX_KEY = 64;

/** Returns the place of a machine. The Machine wins: a kubelet may set labels of its own Node. */
export function machinePlace({ metadata, spec }: Machine, node: KubeObject | undefined): MachinePlace {
  const labels = { ...node?.metadata.labels, ...spec.node.labels, ...metadata.labels };
  return { zone: spec.zone ?? labels[ZONE], pool: poolOf(metadata.labels ?? {}), labels };
}

export function poolOf(labels: Labels): string | undefined {
  return labels[LABEL_POOL] ?? labels[LABEL_MACHINESET];
}

export function dimensionsOf(
  { zone, pool, labels }: MachinePlace,
  { spec, status }: Machine,
  node: KubeObject | undefined,
): Dimensions {
  const info = (field: string): string | undefined => textAt(node, 'status', 'nodeInfo', field);
  const values = {
    zone,
    pool,
    rack: labels[RACK],
    hardware: hardwareModel(status, labels),
    kernelVersion: info('kernelVersion'),
    osImage: info('osImage'),
    kubeletVersion: info('kubeletVersion'),
    containerRuntimeVersion: info('containerRuntimeVersion'),
    driverVersion: status?.system?.gpuDriver ?? labels[DRIVER],
    ...detectorOf(status),
  };
  const single = Object.entries(values).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, shown(name, value)] as const],
  );
  const assigned = spec.components.filter(({ state }) => state !== 'Absent');
  const versions = assigned.map(({ componentRef }) => shown('componentVersion', componentRef));
  return { ...Object.fromEntries(single), ...(versions.length === 0 ? {} : { componentVersion: versions }) };
}

/** Returns the model of the hardware, which has the same faults on many hosts: its class, or the type of its instance. */
export function hardwareModel(status: Machine['status'], labels: Labels): string | undefined {
  return status?.system?.hardwareClass ?? ownValue(labels, INSTANCE_TYPE);
}

/** The problem detector is a part of the agent, and runs where files configure it. */
function detectorOf(status: Machine['status']): Partial<Record<Dimension, string | undefined>> {
  const detectorConfig = detectorConfigOf(status);
  return detectorConfig === undefined ? {} : { detectorVersion: status?.agent?.version, detectorConfig };
}

/** Returns the digest of what the problem detector runs, in 12 digits, as people compare it. */
export function detectorConfigOf(status: Machine['status']): string | undefined {
  return textAt(status, 'facts', 'detectorConfig')?.slice('sha256:'.length, 19);
}

/** A kubelet writes what it likes about its own Node: only what can be shown, with both ends of what is too long. */
function shown(name: string, value: string): string {
  const plain = value.replaceAll(/[^ -~]/g, '?');
  const max = MAX_KEY - name.length - 1;
  if (plain.length <= max) return plain;
  const half = Math.floor((max - 3) / 2);
  return `${plain.slice(0, half)}...${plain.slice(-half)}`;
}

export function dimensionValues(
  { dimensions }: { readonly dimensions?: Dimensions },
  name: string,
): readonly string[] {
  const found = ownValue(dimensions ?? {}, name);
  if (found === undefined) return [];
  return typeof found === 'string' ? [found] : found;
}

/** Returns the name of one value: of its breaker in the ledger, and of a cause over clusters. */
export function valueKey(dimension: string, value: string): string {
  return `${dimension}=${value}`;
}
