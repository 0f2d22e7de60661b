/** Which conditions of a Node become False again by themselves, and which are written by its kubelet. */

export type DetectorBehavior = 'SelfClearing' | 'Latched';

/** Stops being reported when the fault is over, or is written again by every run of a check. */
const SELF_CLEARING: ReadonlySet<string> = new Set([
  // The kubelet and the network of the cluster.
  'Ready',
  'MemoryPressure',
  'DiskPressure',
  'PIDPressure',
  'NetworkUnavailable',
  // The controller of Machines, by the Lease of the agent.
  'AgentReady',
  // Counted in a time window, by our detector.
  'FrequentTaskHung',
  'FrequentSystemOOM',
  'ConntrackFull',
  'FrequentKubeletRestart',
  'FrequentContainerRuntimeRestart',
  // Checks that stock configurations of node-problem-detector repeat.
  'FrequentDockerRestart',
  'FrequentContainerdRestart',
  'FrequentUnregisterNetDevice',
  'KubeletUnhealthy',
  'ContainerRuntimeUnhealthy',
  'NTPProblem',
]);

const KUBELET: ReadonlySet<string> = new Set(['Ready', 'MemoryPressure', 'DiskPressure', 'PIDPressure']);

/**
 * A type that is not listed is Latched, as are all conditions of the log monitor of node-problem-detector: it raises
 * `ReadonlyFilesystem` or `KernelDeadlock` and never clears it.
 */
export function detectorBehavior(type: string): DetectorBehavior {
  return SELF_CLEARING.has(type) ? 'SelfClearing' : 'Latched';
}

/** Conditions that the kubelet writes. When it is silent, the node lifecycle controller sets them to Unknown. */
export function isKubeletCondition(type: string): boolean {
  return KUBELET.has(type);
}

/** Set by the network of the cluster when something changes, without a heartbeat. */
export function isWrittenOnChange(type: string): boolean {
  return type === 'NetworkUnavailable';
}
