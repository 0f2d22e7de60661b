/**
 * The members of an etcd in the pods of a hub in memory: what each has in its volume, and the list that they agree on. A pod acts by the flags
 * of its etcd, as the real one does: test/cluster/controllers/hosting/drivers/workload/members.test.ts has the proof.
 */
import { LABEL_PART } from '../../../src/api/names.ts';
import { ETCD_MEMBERS, type EtcdMember } from '../../../src/controllers/hosting/drivers/driver.ts';
import type { EtcdAsking } from '../../../src/controllers/hosting/drivers/etcd/membership.ts';
import type { EtcdSizes } from '../../../src/controllers/hosting/drivers/etcd/space.ts';
import { HostingError } from '../../../src/controllers/hosting/errors.ts';
import { majorityOf } from '../../../src/controllers/hosting/plan/etcd/quorum.ts';
import { listAt } from '../../../src/kube/objects/json.ts';
import type { KubeObject } from '../../../src/kube/objects/object.ts';

interface Listed {
  isLearner: boolean;
  isStarted: boolean;
}

export interface MemoryHubEtcd {
  /** The database of each member. */
  sizes: EtcdSizes;
  /** Ends hosting in the middle of a defragmentation with this error. */
  fault: Error | undefined;
  readonly list: Map<EtcdMember, Listed>;
  /** The UIDs of the claims whose volumes have data. */
  readonly withData: Set<string>;
  readonly asking: EtcdAsking;
  /** Puts the data of an etcd with one member into the volume of the claim with that UID. */
  readonly restore: (claim: string) => void;
  /** Whether the etcd of the pod starts, given the UID of its claim. */
  readonly starts: (pod: KubeObject, claim: string | undefined) => boolean;
  /** Whether a majority of those that count for it answers. */
  readonly isServing: () => boolean;
}

export function memoryHubEtcd(
  isReady: (member: EtcdMember) => boolean,
  log: (line: string) => void,
): MemoryHubEtcd {
  const list = new Map<EtcdMember, Listed>();
  const withData = new Set<string>();
  const isServing = (): boolean => {
    const voters = [...list].filter(([, { isLearner }]) => !isLearner);
    return voters.length > 0 && voters.filter(([name]) => isReady(name)).length >= majorityOf(voters.length);
  };
  const requireServing = (member: EtcdMember): void => {
    if (!isServing()) throw refused(member, 'is in an etcd without a majority');
  };

  function starts(pod: KubeObject, claim: string | undefined): boolean {
    const member = ETCD_MEMBERS.find((each) => each === pod.metadata.labels?.[LABEL_PART]);
    if (member === undefined || claim === undefined) return false;
    const args = listAt(pod, 'spec', 'containers', 0, 'args').map(String);
    if (!withData.has(claim) && !begins(member, args) && !joins(member, args)) return false;
    withData.add(claim);
    return true;
  }

  function begins(member: EtcdMember, args: readonly string[]): boolean {
    if (!args.includes('--initial-cluster-state=new')) return false;
    list.set(member, { isLearner: false, isStarted: true });
    return true;
  }

  function joins(member: EtcdMember, args: readonly string[]): boolean {
    const listed = list.get(member);
    const knowsOthers = args.some((arg) => arg.startsWith('--initial-cluster=') && arg.includes(','));
    if (!knowsOthers || listed?.isStarted !== false || !isServing()) return false;
    listed.isStarted = true;
    return true;
  }

  const etcd: MemoryHubEtcd = {
    sizes: { dbBytes: 20_000, inUseBytes: 20_000, isFull: false },
    fault: undefined,
    list,
    withData,
    restore: (claim) => {
      withData.add(claim);
      list.set('etcd', { isLearner: false, isStarted: true });
    },
    starts,
    isServing,
    asking: {
      readMembership: async ({ peerUrls }) => {
        if (!isServing()) return undefined;
        const entries = [...list].map(([member, { isLearner, isStarted }]) => ({
          ID: member,
          name: isStarted ? member : '',
          peerURLs: [peerUrls[ETCD_MEMBERS.indexOf(member)] ?? ''],
          isLearner,
        }));
        return { endpoint: { url: '', caPem: '' }, index: 0, entries };
      },
      addMember: async (_, member) => {
        requireServing(member);
        if (list.has(member)) return;
        list.set(member, { isLearner: true, isStarted: false });
        log(`add ${member}`);
      },
      promoteMember: async (_, member) => {
        requireServing(member);
        const listed = list.get(member);
        if (!listed?.isLearner) return;
        listed.isLearner = false;
        log(`promote ${member}`);
      },
      removeMember: async (_, member) => {
        requireServing(member);
        if (list.delete(member)) log(`remove ${member}`);
      },
      joiningCluster: async ({ peerUrls }, member) => {
        requireServing(member);
        if (list.get(member)?.isStarted !== false) throw refused(member, 'is not a new member');
        return [...list.keys()].map((each) => `${each}=${peerUrls[ETCD_MEMBERS.indexOf(each)]}`).join(',');
      },
      readSpace: async () => (isReady('etcd') ? etcd.sizes : undefined),
      shrink: async ({ endpoints }, quotaBytes) => {
        log(`defragment ${endpoints.length}`);
        if (etcd.fault) throw etcd.fault;
        const { inUseBytes } = etcd.sizes;
        const isFull = etcd.sizes.isFull && inUseBytes > 0.9 * quotaBytes;
        etcd.sizes = { dbBytes: inUseBytes, inUseBytes, isFull };
        return etcd.sizes;
      },
    },
  };
  return etcd;
}

function refused(member: EtcdMember, why: string): HostingError {
  return new HostingError('EtcdRefused', `${member} ${why}`, { where: member });
}
