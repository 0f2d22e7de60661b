/** Gives the host of a Machine back to its pool, once nothing of the Machine is left on it. */
import type { Clock } from '../../../os/clock.ts';
import { ProviderError } from '../../contract.ts';
import type { HostClaim, StoredClaim } from './claim.ts';
import type { CurrentHost } from './current-host.ts';
import type { PooledHost } from './host.ts';
import type { ClaimStore } from './store.ts';

export interface ReleaseParts {
  readonly store: ClaimStore;
  readonly clock: Clock;
  readonly currentHost: CurrentHost;
  readonly verifyClean: (host: PooledHost, machineUid: string, signal: AbortSignal) => Promise<void>;
}

const MAX_TRIES = 20;
/** Longer than any call of `create` is under way. */
const REMEMBER_MS = 24 * 3_600_000;

export async function giveHostBack(
  machineUid: string,
  parts: ReleaseParts,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    signal.throwIfAborted();
    const stored = await parts.store.get(machineUid, signal);
    if (stored?.claim.state === 'Deleted') return await forget(machineUid, parts, signal);
    // It was let go: a person frees the host.
    if (stored?.claim.state === 'Unclean') return;
    await advanceRelease(machineUid, stored, { ...parts, signal });
  }
  throw tooManyChanges();
}

/** Makes one step: what it wrote is read again before the next one. */
async function advanceRelease(
  machineUid: string,
  stored: StoredClaim | undefined,
  { store, clock, currentHost, verifyClean, signal }: ReleaseParts & { readonly signal: AbortSignal },
): Promise<void> {
  if (stored === undefined) {
    await store.write(neverClaimed(machineUid, clock.now()), undefined, signal);
    return;
  }
  const { claim } = stored;
  if (claim.state === 'Claimed') {
    await store.write({ ...claim, state: 'Releasing' }, stored, signal);
    return;
  }
  const host = claim.state === 'Releasing' ? await currentHost(claim, signal) : undefined;
  if (host) await verifyClean(host, machineUid, signal);
  await store.write({ ...claim, state: 'Deleted', claimedAt: clock.now() }, stored, signal);
}

/** A Machine that is deleted before it had a host takes none later. */
function neverClaimed(machineUid: string, now: Date): HostClaim {
  return { machine: '', tags: { clusterUid: '', machineUid }, state: 'Deleted', claimedAt: now };
}

/** Frees the host, and removes claims that ended long ago. */
async function forget(
  machineUid: string,
  { store, clock }: ReleaseParts,
  signal: AbortSignal,
): Promise<void> {
  const { claims } = await store.list(signal);
  const before = clock.now().getTime() - REMEMBER_MS;
  const ended = claims.filter(({ claim }) => claim.state === 'Deleted' && claim.claimedAt.getTime() < before);
  // The locks first: without its claim it would not be known that a lock is left over.
  await store.unlock([machineUid, ...ended.map(({ claim }) => claim.tags.machineUid)], signal);
  for (const { object } of ended) await store.remove(object, signal);
}

/** Keeps the host from all machines: it may not be clean, and its Machine does not wait any longer. */
export async function abandonHost(
  machineUid: string,
  { store }: ReleaseParts,
  signal: AbortSignal,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    signal.throwIfAborted();
    const stored = await store.get(machineUid, signal);
    const isTaken = stored?.claim.state === 'Claimed' || stored?.claim.state === 'Releasing';
    if (!isTaken) return;
    if (await store.write({ ...stored.claim, state: 'Unclean' }, stored, signal)) return;
  }
  throw tooManyChanges();
}

/** Gives an unclean host back, because a person has cleaned it. */
export async function freeHost(
  machineUid: string,
  { store, clock }: Pick<ReleaseParts, 'store' | 'clock'>,
  signal: AbortSignal,
): Promise<void> {
  const stored = await store.get(machineUid, signal);
  if (stored?.claim.state !== 'Unclean') throw tooManyChanges();
  const freed = { ...stored.claim, state: 'Deleted', claimedAt: clock.now() } as const;
  if (!(await store.write(freed, stored, signal))) throw tooManyChanges();
  await store.unlock([machineUid], signal);
}

function tooManyChanges(): ProviderError {
  return new ProviderError('Retryable', 'another process changes the claim of this Machine again and again');
}
