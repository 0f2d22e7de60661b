/** Plans how a change of a control plane is taken back before the point of no return. Pure. */
import type { RunMember, SettledPlane } from '../../drivers/driver.ts';
import { memberRuns } from '../../drivers/runs.ts';
import type { HostingDecision, HostingInput, Upgrade } from '../input.ts';
import { memberReport, NEEDS, planMembers } from '../members.ts';
import { differs, gateWait, planChange } from './members.ts';

/** The reverse of the way there: a manager must not be newer than its API server. */
const ORDER: readonly RunMember[] = ['kube-scheduler', 'kube-controller-manager', 'kube-apiserver', 'etcd'];

/**
 * Changes the members back one by one. A member that does not answer because the one it needs does not holds nothing up: that one may be
 * what has failed.
 */
export function planPlaneRollback(
  input: HostingInput,
  upgrade: Upgrade,
  settled: SettledPlane,
): HostingDecision {
  const runs = memberRuns(settled);
  for (const member of ORDER) {
    if (differs(input, member, runs)) return planChange(input, [member], runs) ?? {};
    if (isHeldUp(input, member)) break;
  }
  const decision = planMembers(input);
  if (decision) return decision;
  const gate = gateWait(input);
  if (gate) return { wait: gate };
  const because = `every member runs ${settled.version} with its former flags again`;
  return { act: { type: 'FinishUpgrade', upgrade, result: 'RolledBack', because } };
}

/** Tells whether the member was changed back, and does not answer although the one that it needs does. */
function isHeldUp(input: HostingInput, member: RunMember): boolean {
  if (memberReport(input, member)?.state === 'Ready') return false;
  const needed = NEEDS[member];
  return needed === undefined || memberReport(input, needed)?.state === 'Ready';
}
