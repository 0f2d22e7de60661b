/** Plans how a change of a control plane is taken back before the point of no return. Pure. */
import {
  API_SERVERS,
  type ChangeableMember,
  ETCD_MEMBERS,
  OWN_CONTROLLERS,
  type SettledPlane,
} from '../../drivers/driver.ts';
import { memberRuns } from '../../drivers/runs.ts';
import { etcdReports } from '../etcd/quorum.ts';
import type { HostingDecision, HostingInput, Upgrade } from '../input.ts';
import { hasItsNeeds, memberReport, planMembers, planStart, waitForMembers } from '../members.ts';
import { snapshotPlace } from '../names.ts';
import { wait, withHint } from '../wait.ts';
import { differs, isEtcdAhead, planChange } from './members.ts';

/** The reverse of the way there: a manager must not be newer than its API server. */
const ORDER: readonly ChangeableMember[] = [OWN_CONTROLLERS, 'kube-scheduler', 'kube-controller-manager'];

/**
 * Changes the members back one by one. A member that does not answer because the one it needs does not holds nothing up: that one may be
 * what has failed. It ends without a write, a read and a watch: every member is what it was before the change, so that they may not have worked
 * then, either, and a rollback that waits for them keeps every later change from beginning.
 */
export function planPlaneRollback(
  input: HostingInput,
  upgrade: Upgrade,
  settled: SettledPlane,
): HostingDecision {
  const stays = etcdStays(input, upgrade, settled);
  if (stays) return stays;
  const runs = memberRuns(settled);
  for (const member of [...ORDER, ...silentFirst(input, API_SERVERS), ...silentFirst(input, ETCD_MEMBERS)]) {
    if (differs(input, member, runs)) return planChange(input, [member], runs) ?? {};
    if (isHeldUp(input, member)) break;
  }
  const decision = planMembers(input);
  if (decision) return decision;
  const starting = waitForMembers(input);
  if (starting) return { wait: starting };
  const because = rolledBackText(upgrade, settled);
  return { act: { type: 'FinishUpgrade', upgrade, result: 'RolledBack', because } };
}

function rolledBackText({ controllers }: Upgrade, { version }: SettledPlane): string {
  return controllers === undefined
    ? `every member runs ${version} with its former flags again`
    : 'our controllers run their former image again';
}

/** One of several members that does not answer is changed back first: meanwhile no other one may be touched. */
function silentFirst(input: HostingInput, members: readonly ChangeableMember[]): readonly ChangeableMember[] {
  const isReady = (member: ChangeableMember): boolean => memberReport(input, member)?.state === 'Ready';
  return [...members.filter((each) => !isReady(each)), ...members.filter(isReady)];
}

/** Tells whether the member was changed back, and does not answer although the one that it needs does. */
function isHeldUp(input: HostingInput, member: ChangeableMember): boolean {
  const report = memberReport(input, member);
  return report !== undefined && report.state !== 'Ready' && hasItsNeeds(input, member);
}

/**
 * Waits for a person when the former etcd cannot start from the data any more: the members stay as they are, and one that ends is started
 * again.
 */
export function etcdStays(
  input: HostingInput,
  { to }: Upgrade,
  settled: SettledPlane,
): HostingDecision | undefined {
  if (!isEtcdAhead(input, settled)) return undefined;
  const start = planStart(input);
  if (start) return start;
  const { cluster } = input;
  const { etcdVersion } = settled;
  const message = `etcd was started with a newer minor version, whose data ${etcdVersion} cannot read`;
  const hint = `set spec.hosted.version and flags to those of the change to ${to}, or ${restoreHint(input)}`;
  const about = ['Cluster', cluster.metadata.name] as const;
  return { wait: wait('RollbackImpossible', withHint(message, hint), about, 'stalled') };
}

/** The other members of an etcd never take older data from one of them: they give it theirs, or it ends. */
function restoreHint(input: HostingInput): string {
  if (etcdReports(input).length === 1) return `restore ${snapshotPlace(input.plane)} by hand`;
  return 'create another Cluster: a snapshot is not restored into an etcd with several members';
}
