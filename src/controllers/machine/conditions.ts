/** The conditions of a Machine that say whether host, agent and Node are there. Pure. */
import type { Condition, Machine, MachineHold } from '../../api/generated/types.ts';
import { SILENT_MS } from '../../api/machine/heartbeat.ts';
import { readyCondition } from '../../api/machine/node-state.ts';
import { NAMESPACE_AGENTS } from '../../api/names.ts';
import { type ConditionStatus, conditionOf, isConditionReason } from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import { holdInForce } from '../../rollout/holds.ts';
import { type Finding, finding } from './finding.ts';
import type { MachineObservation } from './observation.ts';

/** The shortest certificate lives 10 minutes, and is renewed at the latest at 65 percent of that. */
const RENEWAL_MS = 180_000;

/** In the order in which a machine comes to life. */
export function hostFindings(observation: MachineObservation): readonly Finding[] {
  return [
    ...observation.infraFindings,
    certificateFinding(observation),
    agentFinding(observation),
    nodeFinding(observation),
    syncFinding(observation),
  ];
}

function certificateFinding({ machine, heartbeat, now }: MachineObservation): Finding {
  const type = 'CertificateIssued';
  const end = machine.status?.agent?.certificateNotAfter;
  if (end === undefined) {
    // No Lease is renewed without a certificate; the agent reports its end later.
    if (heartbeat) return finding(type, 'True', 'InUse', 'the agent uses a certificate');
    return finding(type, 'False', 'NotIssued', 'the agent has no certificate: the host has not joined');
  }
  const leftMs = Date.parse(end) - now.getTime();
  if (leftMs > RENEWAL_MS) return finding(type, 'True', 'AsWanted', 'the certificate is valid');
  const state = leftMs > 0 ? 'is about to expire' : 'has expired';
  const message = `the certificate of the agent ${state} (${end}). If the agent cannot renew it, raise spec.agentEpoch`;
  return finding(type, 'False', leftMs > 0 ? 'NotRenewed' : 'Expired', message);
}

/** Judged by our clock since the Lease last changed, never by that of the host. */
function agentFinding({ machine, heartbeat }: MachineObservation): Finding {
  const type = 'AgentReady';
  const { name } = machine.metadata;
  const blocker = { kind: 'Lease', name, namespace: NAMESPACE_AGENTS };
  if (!heartbeat) {
    return { ...finding(type, 'False', 'NoHeartbeat', 'the agent has not reported yet'), blocker };
  }
  const before = conditionOf(machine.status?.conditions, type)?.status ?? 'Unknown';
  const isSilent = heartbeat.ageMs > SILENT_MS;
  // After a restart of this process a Lease that it finds does not prove that the agent lives.
  if (!isSilent && (heartbeat.hasChanged || before === 'True')) {
    return finding(type, 'True', 'AsWanted', 'the agent renews its Lease');
  }
  return { ...finding(type, 'Unknown', 'AgentSilent', 'the agent does not renew its Lease'), blocker };
}

function nodeFinding({ machine, node }: MachineObservation): Finding {
  const type = 'NodeReady';
  const { name } = machine.metadata;
  const blocker = { kind: 'Node', name };
  if (!node) return { ...finding(type, 'False', 'NodeMissing', `Node ${name} does not exist`), blocker };
  const ready = readyCondition(node);
  const status = textAt(ready, 'status');
  if (status === 'True') return finding(type, 'True', 'AsWanted', 'the Node is Ready');
  const because = textAt(ready, 'message') ?? 'its kubelet has not reported';
  const message = `Node ${name} is not Ready: ${because}`;
  return { ...finding(type, statusOf(status), 'NodeNotReady', message), blocker };
}

function statusOf(status: string | undefined): ConditionStatus {
  return status === 'False' ? 'False' : 'Unknown';
}

function syncFinding({ machine, node, sync, now }: MachineObservation): Finding {
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

/** A missing condition is Unknown. Of an older generation it describes another spec. */
export function reportedFinding(machine: Machine, type: string, missing: string): Finding {
  const { conditions } = machine.status ?? {};
  const found: Condition | undefined = conditionOf(conditions, type);
  const { generation = 0, name } = machine.metadata;
  const blocker = { kind: 'Machine', name };
  if (!found) return { ...finding(type, 'Unknown', 'NotReported', missing), blocker };
  const { status, reason, message, observedGeneration = generation } = found;
  if (type === 'UpToDate' && observedGeneration < generation) {
    return {
      ...finding(type, 'Unknown', 'NotReported', 'the agent has not reported this generation'),
      blocker,
    };
  }
  // Others may use reasons that our conditions cannot have.
  const word = isConditionReason(reason) ? reason : 'NotReady';
  return { ...finding(type, status, word, message), blocker };
}
