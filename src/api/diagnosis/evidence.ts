/** Reads what each vantage point tells about a machine that may be silent. What was not observed is Unknown. Pure. */
import { conditionStatus } from '../../kube/objects/conditions.ts';
import { textAt } from '../../kube/objects/json.ts';
import type { KubeObject } from '../../kube/objects/object.ts';
import type { PeerResult, POWER_SIGNS } from '../enums.ts';
import type { Machine, MachineInfraStatus, MachineStatus } from '../generated/types.ts';
import { readyCondition } from '../machine/node-state.ts';

export type Sign = 'Alive' | 'Silent' | 'Unknown';

export type PowerSign = (typeof POWER_SIGNS)[number];

export interface SilenceEvidence {
  /** Whether the agent renews its Lease. */
  readonly agent: Sign;
  /** Whether the kubelet reports the Node. */
  readonly kubelet: Sign;
  /** The power by the provider of the instance, or by the BMC of the host. */
  readonly power: PowerSign;
  /** Whether machines near this one reach the API server. */
  readonly peers: Sign;
  /** The result of the probes of its kubelet by the agents of its peers. */
  readonly peerProbes: PeerResult;
}

/** The node lifecycle controller sets Unknown when the kubelet is silent. A Node without the condition was never reported. */
export function kubeletSign(node: KubeObject | undefined): Sign {
  const status = textAt(readyCondition(node), 'status');
  if (status === 'Unknown') return 'Silent';
  return status === 'True' || status === 'False' ? 'Alive' : 'Unknown';
}

/**
 * Returns the power as the provider told last, Unknown while it does not answer. The power of a host that a person owns is what its BMC told
 * the machine controller, which asks it only while the machine is silent.
 */
export function powerSign({ spec, status }: Machine): PowerSign {
  if (!status) return 'Unknown';
  return spec.infra.provider === 'ssh' ? (status.power?.state ?? 'Unknown') : powerOfInstance(status);
}

function powerOfInstance({ infra, conditions }: MachineStatus): PowerSign {
  const isRead = conditionStatus(conditions, 'InfraReady') !== 'Unknown';
  return isRead ? POWER_OF[infra?.state ?? 'Unknown'] : 'Unknown';
}

const POWER_OF: Readonly<Record<NonNullable<MachineInfraStatus['state']>, PowerSign>> = {
  Pending: 'Unknown',
  Running: 'On',
  Stopped: 'Off',
  Gone: 'Off',
  Unknown: 'Unknown',
};
