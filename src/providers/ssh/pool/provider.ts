/**
 * Provider ssh: the machines are hosts that exist, taken from a pool of listed hosts. What belongs to whom is in Leases, never in memory: any
 * process may be killed at any time, and the next call continues. A host goes back to its pool only after it was verified to be clean.
 */
import { UUID } from '../../../api/patterns.ts';
import { isKubeError, KubeError } from '../../../kube/client/errors.ts';
import { byCode } from '../../../kube/objects/digest.ts';
import { optional } from '../../../kube/objects/optional.ts';
import type { Clock } from '../../../os/clock.ts';
import {
  type Instance,
  type InstanceFilter,
  type InstanceRequest,
  type Provider,
  ProviderError,
} from '../../contract.ts';
import type { HostClaim } from './claim.ts';
import { claimHost } from './claim-host.ts';
import { SSH } from './config.ts';
import { type CurrentHost, createCurrentHost } from './current-host.ts';
import type { PooledHost } from './host.ts';
import { importOfPooledHost } from './pool.ts';
import { abandonHost, giveHostBack } from './release-host.ts';
import { createClaimStore, type PoolClient } from './store.ts';

export interface SshProviderOptions {
  /** The client that acts as kubenode-machine. */
  readonly client: PoolClient;
  readonly clock: Clock;
  /** Returns when nothing of this Machine is left on the host; throws otherwise. */
  readonly verifyClean: (host: PooledHost, machineUid: string, signal: AbortSignal) => Promise<void>;
}

const PREFIX = 'ssh:///';
const IS_UID = new RegExp(UUID.regex);

export function createSshProvider({ client, clock, verifyClean }: SshProviderOptions): Provider {
  const store = createClaimStore(client);
  const currentHost = createCurrentHost(store, clock);
  const parts = { store, clock, currentHost, verifyClean };
  return {
    ...SSH,
    async create(request, signal) {
      throwIfRefused(request);
      await guarded(signal, 'Ambiguous', () => claimHost(request, parts, signal));
      return `${PREFIX}${request.tags.machineUid}`;
    },
    async get(id, signal) {
      return await guarded(signal, 'Retryable', async () => {
        const stored = await store.get(requireUid(id), signal);
        return stored && (await instanceOf(stored.claim, currentHost, signal));
      });
    },
    async find(filter, signal) {
      return await guarded(signal, 'Retryable', async () => {
        const { claims } = await store.list(signal);
        const own = claims.filter(({ claim }) => hasTags(claim, filter));
        const found: Instance[] = [];
        for (const { claim } of own) {
          const instance = await instanceOf(claim, currentHost, signal);
          if (instance) found.push(instance);
        }
        return found.toSorted((a, b) => byCode(a.id, b.id));
      });
    },
    async delete(id, signal) {
      const uid = requireUid(id);
      await guarded(signal, 'Retryable', () => giveHostBack(uid, parts, signal));
    },
    async abandon(id, signal) {
      const uid = requireUid(id);
      await guarded(signal, 'Retryable', () => abandonHost(uid, parts, signal));
    },
    async power(id, _action, signal) {
      requireUid(id);
      signal.throwIfAborted();
      throw new ProviderError('Terminal', 'provider ssh cannot switch the power of a host', {
        reason: 'NotSupported',
      });
    },
    async events(signal) {
      signal.throwIfAborted();
      return [];
    },
  };
}

/** Undefined while the host is not taken, and after it was given back. */
async function instanceOf(
  claim: HostClaim,
  currentHost: CurrentHost,
  signal: AbortSignal,
): Promise<Instance | undefined> {
  const { machine, tags, state, claimedAt } = claim;
  const isTaken = state === 'Claimed' || state === 'Releasing';
  const host = isTaken ? await currentHost(claim, signal) : undefined;
  if (!host) return undefined;
  return {
    id: `${PREFIX}${tags.machineUid}`,
    machine,
    tags,
    // Whether the host runs is known from the heartbeat of its agent only.
    state: 'Running',
    ...optional('zone', host.zone),
    addresses: [{ type: 'InternalIP', address: host.address }],
    createdAt: claimedAt,
    import: importOfPooledHost(host),
    ...optional('bmc', host.bmc),
  };
}

function hasTags({ tags }: HostClaim, { clusterUid, machineUid, set }: InstanceFilter): boolean {
  return (
    tags.clusterUid === clusterUid &&
    (machineUid === undefined || tags.machineUid === machineUid) &&
    (set === undefined || tags.set === set)
  );
}

function isUid(text: string): boolean {
  return IS_UID.test(text) && text === text.toLowerCase();
}

function requireUid(id: string): string {
  const uid = id.startsWith(PREFIX) ? id.slice(PREFIX.length) : '';
  if (isUid(uid)) return uid;
  const message = `not an id of provider ssh: ${JSON.stringify(id.slice(0, 300))}`;
  throw new ProviderError('Terminal', message, { reason: 'InvalidID' });
}

function throwIfRefused(request: InstanceRequest): void {
  const { machineUid } = request.tags;
  if (!isUid(machineUid)) {
    const message = `not the UID of a Machine: ${JSON.stringify(machineUid.slice(0, 300))}`;
    throw new ProviderError('Terminal', message, { reason: 'InvalidToken' });
  }
  const reason =
    SSH.configReason(request) ?? (SSH.hasInstance(request) ? undefined : 'spec.infra.config names no pool');
  if (reason !== undefined) throw new ProviderError('Terminal', reason, { reason: 'InvalidConfig' });
}

/** Runs one call. `lost` is what it means when the answer of the API server did not arrive. */
async function guarded<T>(
  signal: AbortSignal,
  lost: 'Ambiguous' | 'Retryable',
  work: () => Promise<T>,
): Promise<T> {
  try {
    signal.throwIfAborted();
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof KubeError)) throw error;
    throw toPoolError(error, lost);
  }
}

function toPoolError(error: KubeError, lost: 'Ambiguous' | 'Retryable'): ProviderError {
  const { message, retryAfterSeconds } = error;
  if (isKubeError(error, 'Forbidden', 'Unauthorized')) {
    return new ProviderError('Auth', message, { cause: error });
  }
  const code = isKubeError(error, 'Unreachable', 'Timeout') ? lost : 'Retryable';
  return new ProviderError(code, message, {
    cause: error,
    ...optional('retryAfterSeconds', retryAfterSeconds),
  });
}
