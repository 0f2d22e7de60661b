/** Builds the objects that a kubelet writes about its node: the Node, its status and its Lease. Pure. */

import { TAINT_EFFECT, TAINT_NOT_INITIALIZED } from '../../api/names.ts';
import { formatMicroTime } from '../../kube/leader/record.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import { wholeSeconds } from '../../os/dates.ts';

export interface KubeletFacts {
  readonly name: string;
  /** The version as Kubernetes shows it: v1.36.3. */
  readonly kubeletVersion: string;
  readonly bootId: string;
  readonly machineId: string;
  readonly kernel: string;
  readonly arch: 'amd64' | 'arm64';
  readonly cpus: number;
  readonly memoryBytes: number;
  readonly pods: number;
  readonly address: string;
}

/** The container runtime that `kubectl get nodes -o wide` shows, so that no person takes this node for a real one. */
const RUNTIME = 'stand-in://1';
const LEASE_NAMESPACE = 'kube-node-lease';
/** The duration of the Lease: four heartbeats of ten seconds, as in the kubelet. */
const LEASE_SECONDS = 40;

/** Returns the Node. Its taint keeps pods away until the machine controller has observed everything else of the machine, too. */
export function nodeObject({ name, arch }: KubeletFacts): KubeObject {
  const labels = {
    'kubernetes.io/hostname': name,
    'kubernetes.io/os': 'linux',
    'kubernetes.io/arch': arch,
  };
  const spec = { taints: [{ key: TAINT_NOT_INITIALIZED, effect: TAINT_EFFECT }] };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name, labels }, spec };
}

/** Returns the status of the Node. `since` is the time since which it is ready, `at` is the time of the heartbeat. */
export function nodeStatus(facts: KubeletFacts, since: Date, at: Date): KubeObject {
  const resources = {
    cpu: String(facts.cpus),
    memory: `${Math.floor(facts.memoryBytes / 1024)}Ki`,
    pods: String(facts.pods),
  };
  const status = {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: facts.address },
      { type: 'Hostname', address: facts.name },
    ],
    conditions: CONDITIONS.map(([type, value, reason, message]) => ({
      type,
      status: value,
      reason,
      message,
      lastHeartbeatTime: wholeSeconds(at),
      lastTransitionTime: wholeSeconds(since),
    })),
    nodeInfo: nodeInfo(facts),
  };
  return { apiVersion: 'v1', kind: 'Node', metadata: { name: facts.name }, status };
}

const CONDITIONS = [
  ['MemoryPressure', 'False', 'KubeletHasSufficientMemory', 'kubelet has sufficient memory available'],
  ['DiskPressure', 'False', 'KubeletHasNoDiskPressure', 'kubelet has no disk pressure'],
  ['PIDPressure', 'False', 'KubeletHasSufficientPID', 'kubelet has sufficient PID available'],
  ['Ready', 'True', 'KubeletReady', 'stand-in for a kubelet: pods are reported as running, nothing runs'],
] as const;

function nodeInfo({ kubeletVersion, bootId, machineId, kernel, arch }: KubeletFacts): object {
  return {
    machineID: machineId,
    systemUUID: machineId,
    bootID: bootId,
    kernelVersion: kernel,
    osImage: 'sandbox',
    containerRuntimeVersion: RUNTIME,
    kubeletVersion,
    kubeProxyVersion: '',
    operatingSystem: 'linux',
    architecture: arch,
  };
}

export function nodeLease(name: string, nodeUid: string, at: Date): KubeObject {
  const owner = { apiVersion: 'v1', kind: 'Node', name, uid: nodeUid };
  const spec = { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, renewTime: formatMicroTime(at) };
  const metadata = { name, namespace: LEASE_NAMESPACE, ownerReferences: [owner] };
  return { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec };
}
