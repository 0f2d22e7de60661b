/** The hosts on the instances: they join when their instance has started, and fall silent when it stops or ends. */
import { MACHINES } from '../../api/generated/resources.ts';
import { readyCondition } from '../../api/machine/node-state.ts';
import { NODES } from '../../kube/objects/core-kinds.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { SimulatedApi } from '../api-server/simulated-api.ts';
import type { Random } from '../random.ts';
import { createHost, type SimulatedHost, stepHost } from '../rollout/hosts.ts';
import type { CloudInstance, SimulatedCloud } from './cloud.ts';

export interface InstanceHosts {
  readonly api: SimulatedApi;
  readonly random: Random;
  readonly nowMs: () => number;
  readonly cloud: SimulatedCloud;
  /** By name of the Machine. */
  readonly hosts: Map<string, SimulatedHost>;
}

/** Longer than one step. */
const MOMENT_MS = 6000;

export function stepInstances(context: InstanceHosts): void {
  const { cloud, hosts, api } = context;
  cloud.step();
  const instances = cloud.list();
  const uids = new Set(instances.map(({ tags }) => tags.machineUid));
  for (const { name, uid } of hosts.values()) if (!uids.has(uid)) hosts.delete(name);
  for (const instance of instances) stepInstance(instance, context);
  for (const node of api.list(NODES)) if (!hosts.has(node.metadata.name)) markUnknown(node, context);
}

function stepInstance(instance: CloudInstance, context: InstanceHosts): void {
  const { hosts, nowMs } = context;
  const { machine, tags, state } = instance;
  if (!hosts.has(machine) && mayJoin(instance, context)) {
    hosts.set(machine, createHost(machine, tags.machineUid, nowMs()));
  }
  const host = hosts.get(machine);
  if (host?.uid !== tags.machineUid) return;
  if (state === 'Stopped') silence(host, nowMs() + MOMENT_MS);
  stepHost(host, { ...context, version: () => ({ behaviorOn: () => 'Good', needsDrain: false }) });
}

function mayJoin({ machine, tags, state, joinsMs }: CloudInstance, { api, nowMs }: InstanceHosts): boolean {
  const isOfMachine = api.get(MACHINES, machine)?.metadata.uid === tags.machineUid;
  return isOfMachine && state === 'Running' && nowMs() >= joinsMs;
}

export function silence(host: SimulatedHost, untilMs: number): void {
  host.silentUntilMs = Math.max(host.silentUntilMs, untilMs);
  host.notReadyUntilMs = Math.max(host.notReadyUntilMs, untilMs);
}

/** As the node controller of Kubernetes does with a Node whose kubelet does not answer. */
function markUnknown(node: KubeObject, { api, nowMs }: InstanceHosts): void {
  if (textAt(readyCondition(node), 'status') === 'Unknown') return;
  const lastTransitionTime = new Date(nowMs()).toISOString();
  api.put({ ...node, status: { conditions: [{ type: 'Ready', status: 'Unknown', lastTransitionTime }] } });
}
