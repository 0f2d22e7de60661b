/** Checks of the Machine that a certificate is for. Pure. */
import { bootstrapGroupOf, LABEL_AGENT_BLOCKED } from '../../api/names.ts';
import { afterWaiting, type Check, type Claim } from './claim.ts';

export const machineChecks: readonly Check[] = [
  (claim, snapshot) => {
    if (snapshot.machine(claim.machine)) return undefined;
    const because = `there is no Machine ${claim.machine}`;
    return afterWaiting(claim, snapshot, { reason: 'MachineNotFound', because });
  },
  (claim, snapshot) => {
    const uids = namedUids(claim);
    const uid = snapshot.machine(claim.machine)?.metadata.uid ?? '';
    if (uids.length === 1 && uids[0] === uid) return undefined;
    const because = `expected the UID ${uid} of Machine ${claim.machine}, got ${uids.join(', ') || 'none'}`;
    return afterWaiting(claim, snapshot, { reason: 'WrongUid', because });
  },
  ({ machine }, snapshot) => {
    if (snapshot.machine(machine)?.metadata.deletionTimestamp === undefined) return undefined;
    return { reason: 'MachineDeleting', because: `Machine ${machine} is being deleted` };
  },
  ({ machine }, snapshot) => {
    const why = snapshot.machine(machine)?.metadata.labels?.[LABEL_AGENT_BLOCKED];
    if (why === undefined) return undefined;
    const because = `the agent of Machine ${machine} is blocked by its label ${LABEL_AGENT_BLOCKED}: ${why}`;
    return { reason: 'AgentBlocked', because };
  },
];

/** Returns the UIDs of the Machine of a request. A token proves them by its groups, and the others name one. */
export function namedUids({ request: { groups, machineUid }, requester }: Claim): readonly string[] {
  if (requester !== 'Token') return machineUid === undefined ? [] : [machineUid];
  const prefix = bootstrapGroupOf('');
  return groups.filter((group) => group.startsWith(prefix)).map((group) => group.slice(prefix.length));
}
