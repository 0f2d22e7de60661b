/** Builders for a control plane whose etcd has several members. */
import {
  ETCD_MEMBERS,
  type EtcdMember,
  type MemberReport,
  type PlaneReport,
  type SettledPlane,
} from '../../../src/controllers/hosting/drivers/driver.ts';
import type { Hosted } from '../../../src/controllers/hosting/plan/input.ts';
import { HOSTED, members, readyMember, settledPlane } from './objects.ts';

export interface SeveralParts {
  readonly count?: 3 | 5;
  readonly but?: Parameters<typeof members>[0];
  /** How each member is in the list, where it is not a voter that has joined. */
  readonly list?: Partial<Record<EtcdMember, 'Learner' | 'New' | 'NotListed'>>;
}

export function hostedWith(count: 3 | 5 = 3): Partial<Hosted> {
  return { etcd: { ...HOSTED.etcd, replicas: count } };
}

export function settledWith(count: 3 | 5 = 3): SettledPlane {
  return settledPlane(undefined, hostedWith(count));
}

/** Returns an etcd whose members all answer, have their data and count for the majority, but for those that are given. */
export function severalMembers({
  count = 3,
  but = {},
  list = {},
}: SeveralParts = {}): Pick<PlaneReport, 'members' | 'etcd' | 'settled'> {
  const names = ETCD_MEMBERS.slice(0, count);
  const etcd = names.map((name): MemberReport => readyMember(name, { data: 'Own', ...but[name] }));
  const others = members(but).filter(({ member }) => member !== 'etcd');
  const listed = names.filter((name) => list[name] !== 'NotListed');
  return {
    settled: settledWith(count),
    members: [...etcd, ...others],
    etcd: listed.map((member) => ({
      member,
      isLearner: list[member] !== undefined,
      isStarted: list[member] !== 'New',
    })),
  };
}
