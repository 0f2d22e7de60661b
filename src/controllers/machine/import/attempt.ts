/** Tells the attempts of an import apart, and whether the host still has to be reached over SSH. Pure. */
import type { Machine } from '../../../api/generated/types.ts';
import { conditionStatus } from '../../../kube/objects/conditions.ts';
import { digestOf } from '../../../kube/objects/digest.ts';

/** The length is enough to tell the attempts of one Machine apart, and short enough for the name of an object. */
const LENGTH = 16;

/** Returns the same text until a person changes how the host is reached, or asks for another attempt. */
export function importAttempt({ metadata: { uid }, spec }: Machine): string {
  const { import: host, agentEpoch, retryToken } = spec;
  return digestOf({ uid, host, agentEpoch, retryToken }).slice('sha256:'.length, 'sha256:'.length + LENGTH);
}

/** Tells whether a person asked for another first certificate since the host got its last one. */
export function isEpochRaised({ spec, status }: Machine): boolean {
  return spec.agentEpoch > (status?.import?.agentEpoch ?? (hasSpoken(status) ? spec.agentEpoch : 0));
}

/** Tells whether the host has its certificate, or needs none: from then on there is no SSH connection. */
export function isRegistered(machine: Machine): boolean {
  if (isEpochRaised(machine)) return false;
  return hasSpoken(machine.status) || machine.status?.import?.agentEpoch !== undefined;
}

/** Tells whether the agent has reported once. A Lease that is late later does not change that. */
export function hasSpoken(status: Machine['status']): boolean {
  const { conditions } = status ?? {};
  return (
    conditionStatus(conditions, 'AgentReady') === 'True' ||
    conditions?.some(({ type, status: state }) => type === 'SSHCredentialsNeeded' && state === 'False') ===
      true
  );
}

/** Tells whether a host that has an agent registers once more. */
export function isRegisteringAgain(machine: Machine): boolean {
  return machine.spec.import !== undefined && isEpochRaised(machine) && hasSpoken(machine.status);
}
