/** The conditions of a Machine that say whether host, agent and Node are there. Pure. */
import { MACHINE_COMPONENTS } from '../../api/generated/resources.ts';
import type { Condition, Machine, MachineHold } from '../../api/generated/types.ts';
import { hasOnlyLostGrants } from '../../api/machine/entry-report.ts';
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import { readyCondition } from '../../api/machine/node-state.ts';
import { NAMESPACE_AGENTS } from '../../api/names.ts';
import {
  type ConditionStatus,
  conditionOf,
  conditionStatus,
  isConditionReason,
} from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import { holdInForce } from '../../rollout/holds.ts';
import { certificateFinding, requestReason } from './certificate-wait.ts';
import { type Finding, finding } from './finding.ts';
import type { MachineInput } from './observe.ts';

/** In the order in which a machine comes to life. */
export function hostFindings(observation: MachineInput): readonly Finding[] {
  const imported = observation.importFindings ?? [];
  return [
    ...observation.infraFindings,
    ...imported,
    // An import that is not done gets the certificate itself.
    ...(imported.some(({ type }) => type === 'CertificateIssued') ? [] : [certificateFinding(observation)]),
    agentFinding(observation),
    nodeFinding(observation),
    syncFinding(observation),
  ];
}

/** Judged by our clock since the Lease last changed, never by that of the host. */
function agentFinding({ machine, heartbeat }: MachineInput): Finding {
  const type = 'AgentReady';
  const { name } = machine.metadata;
  const blocker = { kind: 'Lease', name, namespace: NAMESPACE_AGENTS };
  if (!heartbeat) {
    return { ...finding(type, 'False', 'NoHeartbeat', 'the agent has not reported yet'), blocker };
  }
  const isSilent = heartbeat.ageMs > SILENT_MS;
  const isReported = conditionStatus(machine.status?.conditions, type) === 'True';
  // After a restart of this process a Lease that it finds does not prove that the agent lives.
  if (isReported ? !isSilent || heartbeat.unreportedMs > 0 : !isSilent && heartbeat.hasChanged) {
    return finding(type, 'True', 'AsWanted', 'the agent renews its Lease');
  }
  return { ...finding(type, 'Unknown', 'AgentSilent', 'the agent does not renew its Lease'), blocker };
}

function nodeFinding({ machine, node, requests }: MachineInput): Finding {
  const type = 'NodeReady';
  const { name } = machine.metadata;
  const blocker = { kind: 'Node', name };
  // Without its certificate the kubelet cannot register.
  const request = node ? undefined : requestReason(requests?.kubelet);
  if (request) return { type, status: 'False', ...request };
  if (!node) return { ...finding(type, 'False', 'NodeMissing', missingText(machine)), blocker };
  const ready = readyCondition(node);
  const status = textAt(ready, 'status');
  if (status === 'True') return finding(type, 'True', 'AsWanted', 'the Node is Ready');
  const because = textAt(ready, 'message') ?? 'its kubelet has not reported';
  const message = `Node ${name} is not Ready: ${because}`;
  return { ...finding(type, statusOf(status), 'NodeNotReady', message), blocker };
}

/** A host without a kubelet registers no Node. */
function missingText({ metadata, spec }: Machine): string {
  const missing = `Node ${metadata.name} does not exist`;
  return spec.components.length > 0
    ? missing
    : `${missing}, and the machine has no components: no MachineComponentSet selects it by its labels`;
}

function statusOf(status: string | undefined): ConditionStatus {
  return status === 'False' ? 'False' : 'Unknown';
}

function syncFinding({ machine, node, sync, now }: MachineInput): Finding {
  const type = 'NodeSynced';
  const blocker = { kind: 'Node', name: machine.metadata.name };
  if (!sync) return { ...finding(type, 'Unknown', 'NodeMissing', 'the Node does not exist yet'), blocker };
  if (sync.conflicts.length > 0) {
    const message = `set by others to another value: ${sync.conflicts.join(', ')}. Remove them from the Node, or from spec.node`;
    return { ...finding(type, 'False', 'KeysOfOthers', message), blocker };
  }
  if (sync.postponed.length > 0) {
    const message = `held: ${sync.postponed.join(', ')} would evict pods`;
    return { ...finding(type, 'False', 'HeldDisruptive', message), blocker };
  }
  if (sync.operations.length > 0) {
    const isHeld = holdInForce(machine, node, now)?.scope === 'All';
    const written = isHeld
      ? finding(type, 'False', 'HeldAll', 'held: labels, annotations or taints are not written')
      : finding(type, 'False', 'Writing', 'labels, annotations or taints are being written');
    return { ...written, blocker };
  }
  return finding(type, 'True', 'AsWanted', 'labels, annotations and taints are on the Node');
}

export function heldFinding(hold: MachineHold | undefined): Finding {
  if (!hold) return finding('Held', 'False', 'AsWanted', 'no hold applies');
  const until = hold.until === undefined ? '' : ` until ${hold.until}`;
  const reason = hold.scope === 'All' ? 'HeldAll' : 'HeldDisruptive';
  return finding('Held', 'True', reason, `${hold.reason}${until}`);
}

/** The component that the agent is not done with, or the Machine that lacks the report. */
function reporterOf({ metadata, status }: Machine, type: string): NonNullable<Finding['blocker']> {
  const reports = type === 'ComponentsReady' ? (status?.components ?? []) : [];
  const open = reports.find(({ state, running }) => state !== 'Committed' || running === false);
  const ref = open?.desiredRef ?? open?.currentRef;
  return ref === undefined
    ? { kind: 'Machine', name: metadata.name }
    : { kind: MACHINE_COMPONENTS.kind, name: ref };
}

/** A missing condition is Unknown. Of an older generation it describes another spec. */
export function reportedFinding(machine: Machine, type: string, missing: string): Finding {
  const { conditions } = machine.status ?? {};
  const found: Condition | undefined = conditionOf(conditions, type);
  const blocker = reporterOf(machine, type);
  if (!found) return { ...finding(type, 'Unknown', 'NotReported', missing), blocker };
  const { status, reason, message } = found;
  if (type === 'UpToDate' && isOutdated(machine, found)) {
    return {
      ...finding(type, 'Unknown', 'NotReported', 'the agent has not reported this generation'),
      blocker,
    };
  }
  // Others may use reasons that our conditions cannot have.
  const word = isConditionReason(reason) ? reason : 'NotReady';
  return { ...finding(type, status, word, message), blocker };
}

function isOutdated(machine: Machine, { observedGeneration }: Condition): boolean {
  const { generation = 0 } = machine.metadata;
  return (observedGeneration ?? generation) < generation && !hasOnlyLostGrants(machine);
}
