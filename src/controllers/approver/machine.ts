/** Checks of the Machine that a certificate is for. Pure. */
import { bootstrapGroupOf, LABEL_AGENT_BLOCKED } from '../../api/names.ts';
import { afterWaiting, type Check, type Claim } from './claim.ts';

/** The Machine of a node that joins comes later: its Node needs a provider ID first, and its owner has to find it. */
const FOLLOWS_MS = 600_000;

export const machineChecks: readonly Check[] = [
  (claim, snapshot) => {
    if (snapshot.machine(claim.machine)) return undefined;
    const objection = { reason: 'MachineNotFound', because: `there is no Machine ${claim.machine}` };
    return claim.requester === 'Node'
      ? afterWaiting(claim, snapshot, objection, FOLLOWS_MS)
      : afterWaiting(claim, snapshot, objection);
  },
  (claim, snapshot) => {
    // It may not read Machines. Which Machine follows its Node is checked below.
    if (claim.requester === 'Node') return undefined;
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
  // A kubelet has not read the Machine: what it states is not a sign of another one.
  if (requester === 'Node') return [];
  if (requester !== 'Token') return machineUid === undefined ? [] : [machineUid];
  const prefix = bootstrapGroupOf('');
  return groups.filter((group) => group.startsWith(prefix)).map((group) => group.slice(prefix.length));
}
