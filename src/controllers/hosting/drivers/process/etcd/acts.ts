/** The acts of the driver on the members of an etcd, with the guards of its folders. */
import { etcdDataFolder } from '../../../../../local/layout.ts';
import { listProcesses } from '../../../../../local/processes/observe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import type { Command } from '../../../../../os/process/child.ts';
import { HostingError } from '../../../errors.ts';
import {
  ETCD_MEMBERS,
  type EtcdMember,
  isEtcdMember,
  type MemberReport,
  type PlaneDriver,
  type PlaneOwner,
  type PlaneReport,
} from '../../driver.ts';
import {
  addMember,
  joiningCluster,
  listedMembers,
  promoteMember,
  readMembership,
  removeMember,
} from '../../etcd/membership.ts';
import { requireOwn } from '../folder.ts';
import type { MemberSpec } from '../member-spec.ts';
import { findMember } from '../members.ts';
import type { OpenPlane } from '../plane.ts';
import { memberData, memberStates } from '../preparation/complete.ts';
import { dataOwner, markData, setRestAside } from '../preparation/data.ts';
import { notPrepared } from '../preparation/refusals.ts';
import { forgetStarts } from '../records.ts';
import { etcdPlaces, peerUrls } from './endpoint.ts';
import { shrinkPlane } from './plane-space.ts';

/** Adds whose data each member has. It is read after the answers: a member that answers has written data, unless it lost them. */
export async function reportEtcd(
  found: OpenPlane,
  reports: readonly MemberReport[],
): Promise<Pick<PlaneReport, 'members' | 'etcd'>> {
  const members = await Promise.all(
    reports.map(async (report) => {
      const index = indexOf(report.member);
      return index < 0 ? report : { ...report, data: await memberData(found, index) };
    }),
  );
  const isServing = found.state?.etcdMembers && members.some(isReadyEtcd);
  const membership = isServing ? await readMembership(await etcdPlaces(found)) : undefined;
  return { members, etcd: membership && listedMembers({ peerUrls: peerUrls(found) }, membership) };
}

function isReadyEtcd({ member, state }: MemberReport): boolean {
  return isEtcdMember(member) && state === 'Ready';
}

function indexOf(member: MemberReport['member']): number {
  return ETCD_MEMBERS.findIndex((each) => each === member);
}

/** Returns the command of a member. One without data begins an etcd only where no other one has data; otherwise it joins the others. */
export async function startCommand(found: OpenPlane, { member, command }: MemberSpec): Promise<Command> {
  const { state, record, layout } = found;
  if (!state?.etcdMembers || !record || !isEtcdMember(member)) return command;
  const states = await memberStates(found);
  const index = indexOf(member);
  if (states[index] !== 'Empty') return command;
  const folder = etcdDataFolder(layout, index);
  await setRestAside(folder);
  await markData(folder, dataOwner(record, index));
  if (states.some((data) => data !== 'Empty')) {
    const cluster = await joiningCluster(await etcdPlaces(found), member);
    return { ...command, args: [...command.args, `--initial-cluster=${cluster}`] };
  }
  if (index > 0) throw notPrepared(found, member);
  return beginningCommand(command, record.uid);
}

/** Returns the command with which the first member begins an etcd. Its token keeps it apart from one that had the same ports. */
export function beginningCommand(command: Command, token: string): Command {
  const args = command.args.filter((arg) => !arg.startsWith('--initial-cluster-state='));
  return { ...command, args: [...args, '--initial-cluster-state=new', `--initial-cluster-token=${token}`] };
}

/** Returns the ports that a member listens on. */
export function portsOf({ state }: OpenPlane, { member, port }: MemberSpec): readonly number[] {
  const peerPort = state?.etcdMembers?.[indexOf(member)]?.peerPort;
  return peerPort === undefined ? [port] : [port, peerPort];
}

/** Opens a control plane under its lock. */
export type OnPlane = (plane: PlaneOwner, act: (found: OpenPlane) => Promise<void>) => Promise<void>;

/** Nothing is changed in an etcd that is being destroyed. */
export function createEtcdActs(
  clock: Clock,
  onPlane: OnPlane,
): Pick<PlaneDriver, 'shrink' | 'addEtcdMember' | 'promoteEtcdMember' | 'removeEtcdMember'> {
  const onEtcd: OnPlane = (plane, act) =>
    onPlane(plane, async (found) => {
      requireOwn(found);
      if (found.record?.isDestroying !== true) await act(found);
    });
  return {
    shrink: (plane) => onEtcd(plane, (found) => shrinkPlane(found, clock)),
    addEtcdMember: (plane, member) => onEtcd(plane, (found) => addToEtcd(found, member)),
    promoteEtcdMember: (plane, member) =>
      onEtcd(plane, async (found) => promoteMember(await etcdPlaces(found), member, clock)),
    removeEtcdMember: (plane, member) => onEtcd(plane, (found) => removeFromEtcd(found, member)),
  };
}

/** A new member has no starts: those of the one that lost its data do not count as its crashes. */
async function addToEtcd(found: OpenPlane, member: EtcdMember): Promise<void> {
  await forgetStarts(found.layout.root, member);
  await addMember(await etcdPlaces(found), member);
}

async function removeFromEtcd(found: OpenPlane, member: EtcdMember): Promise<void> {
  const spec = found.specs.find((each) => each.member === member);
  const isRunning = spec && findMember(spec, await listProcesses());
  const data = await memberData(found, indexOf(member));
  if (isRunning || data !== 'Empty') throw notLost(found, member);
  await removeMember(await etcdPlaces(found), member);
}

function notLost({ layout }: OpenPlane, member: EtcdMember): HostingError {
  return new HostingError('EtcdRefused', `${member} is not removed from etcd: it runs or has data`, {
    where: layout.root,
    hint: 'nothing to do: hosting observes it again',
  });
}
