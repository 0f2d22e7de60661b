/**
 * Adds, promotes and removes the members of an etcd that has several, and starts each so that it joins the others. Each act reads the list of
 * members first, so that it can be repeated.
 */
import { etcdPeerUrl } from '../../../../../local/processes/commands.ts';
import type { ProbeEndpoint } from '../../../../../local/processes/probe.ts';
import type { Clock } from '../../../../../os/clock.ts';
import { messageOf } from '../../../../../os/errors.ts';
import { pollUntil } from '../../../../../os/poll.ts';
import type { Command } from '../../../../../os/process/child.ts';
import { HostingError } from '../../../errors.ts';
import { ETCD_MEMBERS, type EtcdMember, type ListedMember } from '../../driver.ts';
import type { PlaneFolder } from '../folder.ts';
import { etcdEndpoints } from './endpoint.ts';
import {
  addLearner,
  type EtcdListEntry,
  promoteLearner,
  readMemberList,
  removeListed,
} from './member-list.ts';

type Found = Pick<PlaneFolder, 'layout' | 'state'>;

export interface EtcdMembership {
  /** It is of a member that counts for the majority. */
  readonly endpoint: ProbeEndpoint;
  /** The position of that member. */
  readonly index: number;
  readonly entries: readonly EtcdListEntry[];
}

/** A learner gets a small database within a second. */
const SYNC_MS = 10_000;
const POLL_MS = 200;

/** Resolves to undefined when no majority answers. */
export async function readMembership(found: Found): Promise<EtcdMembership | undefined> {
  for (const [index, endpoint] of (await etcdEndpoints(found)).entries()) {
    const entries = await readMemberList(endpoint).catch(() => undefined);
    if (entries) return { endpoint, index, entries };
  }
  return undefined;
}

export function listedMembers(found: Found, { entries }: EtcdMembership): readonly ListedMember[] {
  return entries.map(({ name, peerURLs, isLearner }) => ({
    member: ETCD_MEMBERS.find((_, index) => peerURLs.includes(peerUrlOf(found, index) ?? '')),
    isLearner,
    isStarted: name !== '',
  }));
}

export async function addMember(found: Found, member: EtcdMember): Promise<void> {
  const { membership, entry, peerUrl } = await openMembership(found, member);
  if (!entry) await changed('add', member, () => addLearner(membership.endpoint, peerUrl));
}

export async function promoteMember(found: Found, member: EtcdMember, clock: Clock): Promise<void> {
  const { membership, entry } = await openMembership(found, member);
  if (!entry?.isLearner) return;
  let problem: unknown;
  const isDone = (): Promise<boolean> =>
    promoteLearner(membership.endpoint, entry.ID).then(
      () => true,
      (error: unknown) => {
        problem = error;
        return false;
      },
    );
  const deadlineMs = clock.monotonicMs() + SYNC_MS;
  if (await pollUntil(isDone, { clock, everyMs: POLL_MS, deadlineMs })) return;
  throw refused('promote', member, problem);
}

export async function removeMember(found: Found, member: EtcdMember): Promise<void> {
  const { membership, entry } = await openMembership(found, member);
  if (entry) await changed('remove', member, () => removeListed(membership.endpoint, entry.ID));
}

/** Returns the command with which a member without data joins the others. */
export async function joiningCommand(found: Found, member: EtcdMember, command: Command): Promise<Command> {
  const { membership, entry } = await openMembership(found, member);
  if (entry?.name !== '') {
    throw refused('start', member, new Error('it has no data, and is not a new member'));
  }
  const names = listedMembers(found, membership).map((listed) => listed.member);
  const cluster = membership.entries.flatMap(({ ID, peerURLs }, index) =>
    peerURLs.map((url) => `${names[index] ?? ID}=${url}`),
  );
  return { ...command, args: [...command.args, `--initial-cluster=${cluster.join(',')}`] };
}

/** Returns the command with which the first member begins an etcd. Its token keeps it apart from one that had the same ports. */
export function beginningCommand(command: Command, token: string): Command {
  const args = command.args.filter((arg) => !arg.startsWith('--initial-cluster-state='));
  return { ...command, args: [...args, '--initial-cluster-state=new', `--initial-cluster-token=${token}`] };
}

interface OpenMembership {
  readonly membership: EtcdMembership;
  /** The member in the list. Undefined: it is not in it. */
  readonly entry: EtcdListEntry | undefined;
  readonly peerUrl: string;
}

async function openMembership(found: Found, member: EtcdMember): Promise<OpenMembership> {
  const peerUrl = peerUrlOf(found, ETCD_MEMBERS.indexOf(member));
  const membership = await readMembership(found);
  if (!membership || peerUrl === undefined) {
    throw refused('list its members for', member, new Error('no majority of etcd answers'));
  }
  return {
    membership,
    peerUrl,
    entry: membership.entries.find(({ peerURLs }) => peerURLs.includes(peerUrl)),
  };
}

function peerUrlOf({ state }: Found, index: number): string | undefined {
  const peerPort = state?.etcdMembers?.[index]?.peerPort;
  return peerPort === undefined ? undefined : etcdPeerUrl(peerPort);
}

async function changed(act: string, member: EtcdMember, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw refused(act, member, error);
  }
}

function refused(act: string, member: EtcdMember, cause: unknown): HostingError {
  return new HostingError('EtcdRefused', `etcd could not ${act} ${member}: ${messageOf(cause)}`, {
    where: member,
    hint: 'look at the logs of etcd if this lasts; hosting tries again',
    cause,
  });
}
