/**
 * Adds, promotes and removes the members of an etcd that has several, and finds with which addresses each joins the others. Each act reads the
 * list of members first, so that it can be repeated.
 */
import type { ProbeEndpoint } from '../../../../local/processes/probe.ts';
import type { Clock } from '../../../../os/clock.ts';
import { messageOf } from '../../../../os/errors.ts';
import { pollUntil } from '../../../../os/poll.ts';
import { HostingError } from '../../errors.ts';
import { ETCD_MEMBERS, type EtcdMember, type ListedMember } from '../driver.ts';
import {
  addLearner,
  type EtcdListEntry,
  promoteLearner,
  readMemberList,
  removeListed,
} from './member-list.ts';
import { type EtcdSizes, readSpace, shrink } from './space.ts';

/** How the members of one etcd are reached, in their order. */
export interface EtcdPlaces {
  /** Undefined: the member cannot be asked now. */
  readonly endpoints: readonly (ProbeEndpoint | undefined)[];
  /** The URL of each member for the others. */
  readonly peerUrls: readonly string[];
}

export interface EtcdMembership {
  /** It is of a member that counts for the majority. */
  readonly endpoint: ProbeEndpoint;
  /** The position of that member. */
  readonly index: number;
  readonly entries: readonly EtcdListEntry[];
}

/** How an etcd is asked to list and change its members, and to make its database smaller. */
export interface EtcdAsking {
  readMembership(places: EtcdPlaces): Promise<EtcdMembership | undefined>;
  addMember(places: EtcdPlaces, member: EtcdMember): Promise<void>;
  promoteMember(places: EtcdPlaces, member: EtcdMember, clock: Clock): Promise<void>;
  removeMember(places: EtcdPlaces, member: EtcdMember): Promise<void>;
  joiningCluster(places: EtcdPlaces, member: EtcdMember): Promise<string>;
  readSpace(places: Pick<EtcdPlaces, 'endpoints'>): Promise<EtcdSizes | undefined>;
  shrink(places: Pick<EtcdPlaces, 'endpoints'>, quotaBytes: number): Promise<EtcdSizes>;
}

/** A learner gets a small database within a second. */
const SYNC_MS = 10_000;
const POLL_MS = 200;

/** Resolves to undefined when no majority answers. */
export async function readMembership({
  endpoints,
}: Pick<EtcdPlaces, 'endpoints'>): Promise<EtcdMembership | undefined> {
  for (const [index, endpoint] of endpoints.entries()) {
    const entries = endpoint && (await readMemberList(endpoint).catch(() => undefined));
    if (entries) return { endpoint, index, entries };
  }
  return undefined;
}

export function listedMembers(
  { peerUrls }: Pick<EtcdPlaces, 'peerUrls'>,
  { entries }: Pick<EtcdMembership, 'entries'>,
): readonly ListedMember[] {
  return entries.map(({ name, peerURLs, isLearner }) => ({
    member: ETCD_MEMBERS.find((_, index) => peerURLs.includes(peerUrls[index] ?? '')),
    isLearner,
    isStarted: name !== '',
  }));
}

export async function addMember(places: EtcdPlaces, member: EtcdMember): Promise<void> {
  const { membership, entry, peerUrl } = await openMembership(places, member);
  if (!entry) await changed('add', member, () => addLearner(membership.endpoint, peerUrl));
}

export async function promoteMember(places: EtcdPlaces, member: EtcdMember, clock: Clock): Promise<void> {
  const { membership, entry } = await openMembership(places, member);
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

export async function removeMember(places: EtcdPlaces, member: EtcdMember): Promise<void> {
  const { membership, entry } = await openMembership(places, member);
  if (entry) await changed('remove', member, () => removeListed(membership.endpoint, entry.ID));
}

/** Returns the value of `--initial-cluster` with which a member without data joins the others. */
export async function joiningCluster(places: EtcdPlaces, member: EtcdMember): Promise<string> {
  const { membership, entry } = await openMembership(places, member);
  if (entry?.name !== '') {
    throw refused('start', member, new Error('it has no data, and is not a new member'));
  }
  const names = listedMembers(places, membership).map((listed) => listed.member);
  return membership.entries
    .flatMap(({ ID, peerURLs }, index) => peerURLs.map((url) => `${names[index] ?? ID}=${url}`))
    .join(',');
}

interface OpenMembership {
  readonly membership: EtcdMembership;
  /** The member in the list. Undefined: it is not in it. */
  readonly entry: EtcdListEntry | undefined;
  readonly peerUrl: string;
}

async function openMembership(places: EtcdPlaces, member: EtcdMember): Promise<OpenMembership> {
  const peerUrl = places.peerUrls[ETCD_MEMBERS.indexOf(member)];
  const membership = await readMembership(places);
  if (!membership || peerUrl === undefined) {
    throw refused('list its members for', member, new Error('no majority of etcd answers'));
  }
  return {
    membership,
    peerUrl,
    entry: membership.entries.find(({ peerURLs }) => peerURLs.includes(peerUrl)),
  };
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

/** Asks by the network. */
export const ASKING: EtcdAsking = {
  readMembership,
  addMember,
  promoteMember,
  removeMember,
  joiningCluster,
  readSpace: ({ endpoints }) => readSpace(endpoints),
  shrink: ({ endpoints }, quotaBytes) => shrink(endpoints, quotaBytes),
};
