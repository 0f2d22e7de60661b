/** Reads and writes the claims on the hosts of pools. Every write is a compare-and-swap. */
import { LABEL_HOST_CLAIM, LABEL_HOST_POOL, NAMESPACE_HOSTS } from '../../../api/names.ts';
import type { Client } from '../../../kube/client/client.ts';
import { isKubeError, unlessMissing } from '../../../kube/client/errors.ts';
import { LEASES } from '../../../kube/leader/record.ts';
import { CONFIG_MAPS } from '../../../kube/objects/core-kinds.ts';
import type { KubeObject } from '../../../kube/objects/object.ts';
import { optional } from '../../../kube/objects/optional.ts';
import { ProviderError } from '../../contract.ts';
import {
  claimName,
  formatClaim,
  formatHostLock,
  type HostClaim,
  holderOfHost,
  hostLockName,
  isHostLock,
  parseClaim,
  type StoredClaim,
  type UnreadableClaim,
  unreadableClaim,
  unreadableText,
} from './claim.ts';
import type { PoolContent, PooledHost } from './host.ts';
import { readPool } from './pool.ts';

export type PoolClient = Pick<Client, 'pages' | 'get' | 'create' | 'replace' | 'delete'>;

export interface ClaimList {
  readonly claims: readonly StoredClaim[];
  readonly locks: readonly KubeObject[];
  readonly unreadable: readonly UnreadableClaim[];
}

export interface ClaimStore {
  pool(name: string, signal: AbortSignal): Promise<PoolContent>;
  list(signal: AbortSignal): Promise<ClaimList>;
  get(machineUid: string, signal: AbortSignal): Promise<StoredClaim | undefined>;
  /** Undefined: somebody else wrote it, or it exists already. */
  write(
    claim: HostClaim,
    before: StoredClaim | undefined,
    signal: AbortSignal,
  ): Promise<StoredClaim | undefined>;
  /** False: another Machine has the host. */
  lock(host: PooledHost, claim: HostClaim, signal: AbortSignal): Promise<boolean>;
  /** Frees the hosts of these Machines. */
  unlock(machineUids: readonly string[], signal: AbortSignal): Promise<void>;
  remove(object: KubeObject, signal: AbortSignal): Promise<void>;
}

const WITHIN = { namespace: NAMESPACE_HOSTS } as const;

export function createClaimStore(client: PoolClient): ClaimStore {
  async function all(
    resource: typeof LEASES,
    labelSelector: string,
    signal: AbortSignal,
  ): Promise<KubeObject[]> {
    const found: KubeObject[] = [];
    for await (const { items } of client.pages(resource, { ...WITHIN, labelSelector, signal })) {
      found.push(...items);
    }
    return found;
  }

  async function lease(name: string, signal: AbortSignal): Promise<KubeObject | undefined> {
    return await unlessMissing(client.get(LEASES, { ...WITHIN, name }, { signal }));
  }

  async function get(machineUid: string, signal: AbortSignal): Promise<StoredClaim | undefined> {
    const object = await lease(claimName(machineUid), signal);
    const claim = object && parseClaim(object);
    const unreadable = object && unreadableClaim(object);
    if (unreadable) {
      throw new ProviderError('Terminal', unreadableText(unreadable), { reason: 'ClaimUnreadable' });
    }
    return object && claim && { object, claim };
  }

  async function remove(object: KubeObject, signal: AbortSignal): Promise<void> {
    const { name, uid = '', resourceVersion } = object.metadata;
    try {
      await client.delete(
        LEASES,
        { ...WITHIN, name },
        { uid, ...optional('resourceVersion', resourceVersion), signal },
      );
    } catch (error) {
      if (!isKubeError(error, 'NotFound', 'Conflict')) throw error;
    }
  }

  /** A claim is written before its lock, so that a lock without one, or of one that ended, is left over from a process that was killed. */
  async function isLeftOver(lock: KubeObject, signal: AbortSignal): Promise<boolean> {
    const uid = holderOfHost(lock);
    const holder = uid === undefined ? undefined : await get(uid, signal);
    return holder === undefined || holder.claim.state === 'Deleted';
  }

  async function list(signal: AbortSignal): Promise<ClaimList> {
    const found = await all(LEASES, LABEL_HOST_CLAIM, signal);
    const claims = found.flatMap((object) => {
      const claim = parseClaim(object);
      return claim ? [{ object, claim }] : [];
    });
    const unreadable = found.flatMap((object) => unreadableClaim(object) ?? []);
    return { claims, locks: found.filter(isHostLock), unreadable };
  }

  return {
    pool: async (name, signal) =>
      readPool(name, await all(CONFIG_MAPS, `${LABEL_HOST_POOL}=${name}`, signal)),
    list,
    get,
    write: (claim, before, signal) => writeClaim(client, { claim, before }, signal),
    async lock(host, claim, signal) {
      try {
        await client.create(LEASES, formatHostLock(host, claim), { signal });
        return true;
      } catch (error) {
        if (!isKubeError(error, 'AlreadyExists')) throw error;
      }
      const found = await lease(hostLockName(host), signal);
      if (found && holderOfHost(found) === claim.tags.machineUid) return true;
      if (found && (await isLeftOver(found, signal))) await remove(found, signal);
      return false;
    },
    async unlock(machineUids, signal) {
      const { locks } = await list(signal);
      const own = locks.filter((lock) => machineUids.includes(holderOfHost(lock) ?? ''));
      for (const lock of own) await remove(lock, signal);
    },
    remove,
  };
}

interface ClaimWrite {
  readonly claim: HostClaim;
  readonly before: StoredClaim | undefined;
}

async function writeClaim(
  client: PoolClient,
  { claim, before }: ClaimWrite,
  signal: AbortSignal,
): Promise<StoredClaim | undefined> {
  const created = formatClaim(claim);
  const { resourceVersion, uid } = before?.object.metadata ?? {};
  const version = { ...optional('uid', uid), ...optional('resourceVersion', resourceVersion) };
  const replacement = { ...created, metadata: { ...created.metadata, ...version } };
  try {
    const object = await (before
      ? client.replace(LEASES, replacement, { signal })
      : client.create(LEASES, created, { signal }));
    return { object, claim };
  } catch (error) {
    if (isKubeError(error, 'AlreadyExists', 'Conflict', 'NotFound')) return undefined;
    throw error;
  }
}
